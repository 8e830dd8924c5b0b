//! What the harness asserts at the end of each test, shown to fail where something is left.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use harness::{Folder, House, Premises, call};
use serde_json::json;
use tempfile::TempDir;

fn premises(folder: &TempDir) -> Premises {
    Premises::new([folder.path().to_owned()])
}

#[tokio::test]
#[should_panic(expected = "a test must close its house")]
async fn a_house_that_is_dropped_before_it_is_closed_fails_its_test() {
    drop(House::open().await);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "somebody still holds the session")]
async fn a_session_that_somebody_still_holds_fails_its_test() {
    let house = House::open().await;
    let _held = house.session.clone();
    house.close().await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "/.toolwright-a is left")]
async fn what_is_left_in_a_folder_of_the_session_fails_its_test() {
    let folder = Folder::open().await;
    folder.put(".toolwright-a", "");
    folder.close().await;
}

#[tokio::test(start_paused = true)]
async fn neither_a_stopper_nor_a_listener_holds_a_session() {
    let house = House::open().await;
    let turn = house.turn([call("a", json!({}))]).await;
    let _held = (turn.stopper(), house.session.subscribe(), house.session.questions());
    turn.finish().await;
    house.close().await;
}

#[test]
fn a_temporary_file_is_found_at_any_depth_and_no_other() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("below")).unwrap();
    fs::write(folder.path().join("result-a"), "").unwrap();
    assert_eq!(premises(&folder).remains(), [""; 0]);
    for name in [".result-a", "below/.toolwright-b"] {
        let file = folder.path().join(name);
        fs::write(&file, "").unwrap();
        let found = premises(&folder).remains();
        assert!(
            matches!(&found[..], [it] if it.ends_with(&format!("{name} is left"))),
            "{found:?}"
        );
        fs::remove_file(file).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_open_descriptor_is_found_even_of_a_file_that_is_gone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("it");
    let open = File::create(&path).unwrap();
    fs::remove_file(path).unwrap();
    let found = premises(&folder).remains();
    assert!(matches!(&found[..], [it] if it.ends_with("is open")), "{found:?}");
    drop(open);
    assert_eq!(premises(&folder).remains(), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_is_found_by_where_it_works_or_was_started_and_by_what_it_holds_open() {
    let folder = TempDir::new().unwrap();
    let (own, other) = (folder.path(), Path::new("/"));
    for (cwd, before, command) in [
        (own, other, "echo; cat"),
        (other, own, "echo; cat"),
        (other, other, "exec 3>\"$0\"/it; echo; cat"),
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).arg(own).current_dir(cwd).env("OLDPWD", before);
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It has begun once it says something.
        shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let premises = premises(&folder);
        let is_it = |it: &String| *it == format!("/proc/{} still runs", shell.id());
        assert!(premises.remains().iter().any(is_it), "{:?}", premises.remains());
        // The end of its input ends it.
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(premises.remains(), [""; 0]);
    }
}

#[test]
fn what_everybody_shares_is_nobodys_premises() {
    for shared in [std::env::temp_dir(), "/".into(), "".into()] {
        assert_eq!(format!("{:?}", Premises::new([shared])), "Premises([])");
    }
}
