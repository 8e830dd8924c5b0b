//! A session with the built-in tools in a folder of its own, which goes with it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use toolwright::{FileOptions, Processes, Registry, Warden, built_in_tools_with};
use toolwright_actors::Config;
use toolwright_contract::{ToolResult, ToolUse};

use crate::House;

/// Commands with a warden: the program under test, which cargo builds beside the tests.
#[must_use]
pub fn processes() -> Processes {
    let test = std::env::current_exe().expect("a test is a file");
    let program = test.ancestors().nth(2).expect("tests are in a folder of the programs'");
    Processes::with(Warden::new(program.join("toolwright-under-test"), ["warden".into()]))
}

/// See the module.
pub struct Folder {
    /// The session.
    pub house: House,
    folder: TempDir,
}

impl Folder {
    /// A session whose working directory is an empty folder.
    pub async fn open() -> Self {
        Self::with(|_| {}).await
    }

    /// The same, with other options for files.
    pub async fn with_files(files: &FileOptions) -> Self {
        let tools = built_in_tools_with(files, &processes());
        let tools = Registry::new(tools).expect("each name is its own");
        Self::with(|config| config.tools = tools).await
    }

    /// The same as [`open`](Self::open), set up by `change`.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = TempDir::new().expect("a folder for the test");
        let cwd = folder.path().canonicalize().expect("it exists");
        let house = House::with(|config| {
            let tools = built_in_tools_with(&FileOptions::default(), &processes());
            config.tools = Registry::new(tools).expect("each name is its own");
            config.context.cwd = cwd;
            change(config);
        });
        Self { house: house.await, folder }
    }

    /// The path of something in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// The same as text.
    #[must_use]
    pub fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("a plain name").to_owned()
    }

    /// The folder, without symbolic links in its path.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it exists")
    }

    /// Writes a file, behind the session's back, and gives its path.
    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("folders can be made");
        fs::write(&path, content).expect("a file can be written");
        self.name(name)
    }

    /// The content of a file.
    #[must_use]
    pub fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("the file is there")
    }

    /// The names of all that is in the folder, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root()).expect("a folder");
        let name = |it: std::io::Result<fs::DirEntry>| it.expect("an entry").file_name();
        let mut names: Vec<_> = entries.map(|it| name(it).to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }

    /// Runs one call.
    pub async fn call(&self, tool: &str, input: Value) -> ToolResult {
        let mut results = self.house.run([ToolUse::new("call", tool, input)]).await;
        results.results.remove(0)
    }

    /// Runs one call, which must succeed, and gives its text.
    pub async fn ok(&self, tool: &str, input: Value) -> String {
        let result = self.call(tool, input).await;
        assert!(!result.is_error, "{}", self.told(&result));
        self.told(&result)
    }

    /// Runs one call, which must fail, and gives its text.
    pub async fn fails(&self, tool: &str, input: Value) -> String {
        let result = self.call(tool, input).await;
        assert!(result.is_error, "{}", self.told(&result));
        self.told(&result)
    }

    /// Ends the session and checks its history, as [`House::close`] does.
    pub async fn close(self) {
        self.house.close().await;
    }

    /// The text of a result, in which the folder is called `DIR`.
    fn told(&self, result: &ToolResult) -> String {
        let text = result.content.text();
        text.replace(self.root().to_str().expect("a plain name"), "DIR")
    }
}
