//! A turn's changes of files taken back, and when that is refused.

use std::fs;
use std::sync::{Arc, Mutex};

use harness::Folder;
use serde_json::json;
use tempfile::TempDir;
use toolwright::{Checkpoints, FileListener, FileOptions, NotRewound};

async fn folder() -> (Folder, Arc<Checkpoints>, TempDir) {
    let copies = TempDir::new().unwrap();
    let checkpoints = Arc::new(Checkpoints::new(copies.path().join("copies")));
    let options = FileOptions { checkpoints: Some(checkpoints.clone()), ..FileOptions::default() };
    (Folder::with_files(&options).await, checkpoints, copies)
}

async fn write(folder: &Folder, name: &str, content: &str) {
    let path = folder.name(name);
    if fs::exists(&path).unwrap() {
        folder.ok("Read", json!({"file_path": path})).await;
    }
    folder.ok("Write", json!({"file_path": path, "content": content})).await;
}

#[tokio::test]
async fn all_that_a_turn_has_changed_becomes_what_it_was() {
    let (folder, checkpoints, copies) = folder().await;
    let bytes = b"caf\xe9\r\nold";
    folder.put("old", bytes);
    let first = checkpoints.begin();
    write(&folder, "old", "one\n").await;
    write(&folder, "old", "two\n").await;
    write(&folder, "new", "new").await;
    let second = checkpoints.begin();
    write(&folder, "new", "newer").await;
    assert_eq!(checkpoints.rewind(second).unwrap(), [folder.path("new")]);
    assert_eq!(folder.get("new"), b"new");
    let done = checkpoints.rewind(first).unwrap();
    assert_eq!(done, [folder.path("new"), folder.path("old")]);
    assert_eq!((folder.names(), folder.get("old")), (vec!["old".to_owned()], bytes.to_vec()));
    assert!(matches!(checkpoints.rewind(first), Err(NotRewound::Forgotten)));
    assert_eq!(fs::read_dir(copies.path().join("copies")).unwrap().count(), 0);
    folder.close().await;
}

#[tokio::test]
async fn nothing_is_taken_back_if_a_file_has_changed_since() {
    let (folder, checkpoints, _copies) = folder().await;
    folder.put("one", "old");
    folder.put("other", "old");
    let turn = checkpoints.begin();
    write(&folder, "one", "new").await;
    write(&folder, "other", "new").await;
    folder.put("other", "by somebody else");
    let refused = checkpoints.rewind(turn).unwrap_err();
    assert!(matches!(&refused, NotRewound::Changed(it) if *it == [folder.path("other")]));
    assert_eq!(folder.get("one"), b"new");
    folder.put("other", "new");
    assert_eq!(checkpoints.rewind(turn).unwrap().len(), 2);
    assert_eq!(folder.get("one"), b"old");
    folder.close().await;
}

struct Heard(Mutex<Vec<String>>);

impl FileListener for Heard {
    fn written(&self, path: &std::path::Path) {
        self.0.lock().unwrap().push(path.to_str().unwrap().to_owned());
    }
}

#[tokio::test]
async fn a_listener_hears_of_each_file_that_was_written() {
    let heard = Arc::new(Heard(Mutex::default()));
    let options = FileOptions { listener: Some(heard.clone()), ..FileOptions::default() };
    let folder = Folder::with_files(&options).await;
    let path = folder.name("file");
    write(&folder, "file", "a").await;
    folder.fails("Edit", json!({"file_path": path, "old_string": "b", "new_string": "c"})).await;
    folder.ok("Edit", json!({"file_path": path, "old_string": "a", "new_string": "c"})).await;
    assert_eq!(*heard.0.lock().unwrap(), [path.clone(), path]);
    folder.close().await;
}
