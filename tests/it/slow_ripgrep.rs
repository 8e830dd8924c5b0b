//! Grep and Glob against the program `rg`: the same answer to any query over any tree.
//!
//! A quarter of `PROPTEST_CASES` (256) is how many queries there are. Without the program nothing is compared, and
//! the test says so; in the gate it must be there.

use std::process::{Command, Stdio};

use harness::Folder;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::test_runner::Config;
use proptest::{collection, option, prop_assert_eq, sample};
use serde_json::{Value, json};

/// Words that contents, patterns and names are made of.
const WORDS: [&str; 9] = ["fn", "Fn", "let x", "süß", "日本", "a.b", "foo_bar", "()", "x\ty"];
const PATTERNS: [&str; 22] = [
    "fn",
    "FN",
    "f.",
    "^fn",
    "fn$",
    r"\bx\b",
    r"\w+_\w+",
    "süß",
    "[^a-z]{3}",
    "(fn|let)",
    "日.?",
    r"a\.b",
    ".",
    "$",
    "x\\sy",
    r"\p{Lu}",
    "(?i)FN",
    "(",
    "[z-a]",
    "a{2,1}",
    "(?=x)",
    r"\d",
];
const MULTILINE: [&str; 6] = ["fn.*\n", r"x\n+f", r"(?s)fn.*let", "fn.*süß", r"\n\n", "^fn$\n^"];
const GLOBS: [&str; 10] = [
    "*.rs",
    "*.{rs,py}",
    "!*.rs",
    "src/**",
    "src/*.rs",
    "**/deep/**",
    ".*",
    "[a-m]*",
    "*.log",
    "{a",
];
const TYPES: [&str; 4] = ["rust", "py", "md", "klingon"];
/// Names of files. No folder's name begins the name of a file beside it, so that `rg` sorts as we
/// do: by the path as text, and not by its parts.
const NAMES: [&str; 16] = [
    "a.rs",
    "b.py",
    "m.md",
    "z.log",
    ".env",
    "Lib.RS",
    "src/lib.rs",
    "src/main.py",
    "src/deep/c.rs",
    "src/deep/d.txt",
    "src/.hidden/e.rs",
    "out/f.rs",
    "out/g.log",
    "日本/h.md",
    "w x/i.rs",
    "j",
];

#[derive(Clone, Debug)]
struct Query {
    pattern: &'static str,
    multiline: bool,
    mode: &'static str,
    ignore_case: bool,
    numbers: bool,
    only_matching: bool,
    before: Option<u64>,
    after: Option<u64>,
    path: Option<&'static str>,
    glob: Option<&'static str>,
    file_type: Option<&'static str>,
}

fn query() -> impl Strategy<Value = Query> {
    let pattern = prop_oneof![
        5 => sample::select(&PATTERNS[..]).prop_map(|it| (it, false)),
        1 => sample::select(&PATTERNS[..]).prop_map(|it| (it, true)),
        1 => sample::select(&MULTILINE[..]).prop_map(|it| (it, true)),
    ];
    let mode = sample::select(&["content", "content", "files_with_matches", "count"][..]);
    let flags = (any::<bool>(), any::<bool>(), proptest::bool::weighted(0.2));
    let context = (option::weighted(0.3, 0..4_u64), option::weighted(0.3, 0..4_u64));
    let path = option::weighted(0.4, sample::select(&["src", "out", "src/deep", "out/g.log"][..]));
    let glob = option::weighted(0.3, sample::select(&GLOBS[..]));
    let file_type = option::weighted(0.2, sample::select(&TYPES[..]));
    (pattern, mode, flags, context, path, glob, file_type).prop_map(
        |(
            (pattern, multiline),
            mode,
            (ignore_case, numbers, only_matching),
            (before, after),
            path,
            glob,
            file_type,
        )| {
            // `rg` refuses `-o` with context only by showing odd things; nobody asks for both.
            // Versions of `rg` count an empty match at the end of a file each in their own way.
            let only_matching = only_matching && pattern != "$";
            let context = !only_matching;
            Query {
                pattern,
                multiline,
                mode,
                ignore_case,
                numbers,
                only_matching,
                before: before.filter(|_| context),
                after: after.filter(|_| context),
                path,
                glob,
                file_type,
            }
        },
    )
}

impl Query {
    fn input(&self) -> Value {
        let mut input = json!({
            "pattern": self.pattern,
            "multiline": self.multiline,
            "output_mode": self.mode,
            "-i": self.ignore_case,
            "-n": self.numbers,
            "-o": self.only_matching,
            "head_limit": 0,
        });
        let optional = [
            ("-B", self.before.map(Value::from)),
            ("-A", self.after.map(Value::from)),
            ("path", self.path.map(Value::from)),
            ("glob", self.glob.map(Value::from)),
            ("type", self.file_type.map(Value::from)),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                input[name] = value;
            }
        }
        input
    }

    fn arguments(&self) -> Vec<String> {
        let words = "--hidden --sort=path --no-config --no-heading --color=never";
        let mode = match self.mode {
            "content" if self.numbers => "-n",
            "content" => "-N",
            "count" => "-cH",
            _ => "-l",
        };
        let shows_matches = self.mode != "files_with_matches";
        let flags = [
            (true, mode),
            (self.multiline, "-U"),
            (self.multiline, "--multiline-dotall"),
            (self.ignore_case, "-i"),
            (self.only_matching && shows_matches, "-o"),
        ];
        let shows_lines = |it: &u64| (self.mode == "content").then_some(*it);
        let values = [
            self.before.as_ref().and_then(shows_lines).map(|it| format!("-B{it}")),
            self.after.as_ref().and_then(shows_lines).map(|it| format!("-A{it}")),
            self.glob.map(|it| format!("--glob={it}")),
            // The last glob decides, and nothing leads into version control.
            Some("--glob=!.git".to_owned()),
            Some("--glob=!.svn".to_owned()),
            self.file_type.map(|it| format!("--type={it}")),
            Some(format!("--regexp={}", self.pattern)),
            self.path.map(str::to_owned),
        ];
        let words = words.split_whitespace();
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag);
        words.chain(flags).map(str::to_owned).chain(values.into_iter().flatten()).collect()
    }
}

/// What a file holds: lines, in one of several encodings, or bytes that are no text.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let ending = sample::select(&["\n", "\n", "\n", "\r\n", "\n\n", " "][..]);
    let lines = collection::vec((sample::select(&WORDS[..]), ending), 0..12);
    let text = lines.prop_map(|it| it.iter().map(|(word, end)| format!("{word}{end}")).collect());
    let kind = prop_oneof![
        8 => Just(0),
        1 => Just(1),
        1 => Just(2),
        1 => Just(3),
        1 => Just(4),
    ];
    (text, kind).prop_map(|(text, kind): (String, u8)| match kind {
        1 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        2 => {
            [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
        }
        3 => [text.as_bytes(), b"\0binary\n", text.as_bytes()].concat(),
        4 => [text.as_bytes(), b"\xff\xfe broken\n"].concat(),
        _ => text.into_bytes(),
    })
}

/// Whether `rg` fails, and what it prints; nothing if it isn't there: the gate says so then.
fn rg(folder: &Folder, arguments: &[String]) -> Option<(bool, String)> {
    let mut command = Command::new("rg");
    command.args(arguments).current_dir(folder.root()).stdin(Stdio::null());
    let it = command.output().ok()?;
    // It also complains where a filter leaves no file to search.
    let complains = String::from_utf8_lossy(&it.stderr).contains("No files were searched");
    let printed = String::from_utf8_lossy(&it.stdout).replace("\r\n", "\n");
    Some((it.status.code() == Some(2) && !complains, printed))
}

fn plant(folder: &Folder, files: &[(usize, Vec<u8>)], ignored: &str) {
    folder.put(".git/HEAD", "fn main\n");
    folder.put("src/.svn/entries", "fn main\n");
    folder.put("src/deep/.ignore", "d.txt\n");
    folder.put("out/none", "nothing\n");
    folder.put(".gitignore", ignored);
    for (at, content) in files {
        folder.put(NAMES[*at], content);
    }
    folder.put("out/g.log", "fn\nlet x\n");
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// The result without what `rg` doesn't say: the line of totals.
fn plain(mode: &str, text: &str) -> String {
    let none = ["No matches found", "No files found"].iter().any(|it| text.starts_with(it));
    match mode {
        _ if none => String::new(),
        "count" => text.rsplit_once("\n\nFound ").unwrap().0.to_owned(),
        "content" if text.starts_with("[All of the ") => String::new(),
        "content" => text.trim_end_matches('\n').to_owned(),
        _ => sorted(text.split_once('\n').unwrap().1).join("\n"),
    }
}

/// Plants a tree, and gives what `rg` says of it and what the tool says.
fn both(
    files: &[(usize, Vec<u8>)],
    ignored: &str,
    arguments: &[String],
    call: (&str, Value),
) -> Option<((bool, String), (bool, String))> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = Folder::open().await;
        plant(&folder, files, ignored);
        let expected = rg(&folder, arguments);
        let result = folder.call(call.0, call.1).await;
        let text = result.content.text().replace(&folder.name(""), "");
        folder.close().await;
        Some((expected?, (result.is_error, text)))
    })
}

/// Each case starts a session and a process, so there are fewer than of others.
fn cases() -> Config {
    Config::with_cases(Config::default().cases / 4)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn grep_finds_what_rg_finds(
        query in query(),
        files in collection::vec((0..NAMES.len(), content()), 1..12),
        ignored in sample::select(&["", "out/\n", "*.log\n!g.log\n", "main.py\n.env\n"][..]),
    ) {
        let call = ("Grep", query.input());
        let Some((expected, found)) = both(&files, ignored, &query.arguments(), call) else {
            println!("skipped: rg is not installed");
            return Ok(());
        };
        prop_assert_eq!(found.0, expected.0, "{}", found.1);
        if !found.0 {
            let expected = match query.mode {
                "files_with_matches" => sorted(&expected.1).join("\n"),
                "content" if expected.1.trim().is_empty() => String::new(),
                _ => expected.1.trim_end_matches('\n').to_owned(),
            };
            prop_assert_eq!(plain(query.mode, &found.1), expected);
        }
    }

    #[test]
    fn glob_finds_what_rg_lists(
        glob in sample::select(&GLOBS[..9]),
        files in collection::vec((0..NAMES.len(), Just(Vec::new())), 1..16),
    ) {
        let words = ["--files", "--hidden", "--no-ignore", "--no-config", "--glob", glob];
        let arguments = words.iter().chain(&["--glob=!.git", "--glob=!.svn"]);
        let arguments: Vec<_> = arguments.map(|it| (*it).to_owned()).collect();
        let call = ("Glob", json!({"pattern": glob}));
        let Some((expected, found)) = both(&files, "out/\n*.log\n", &arguments, call) else {
            println!("skipped: rg is not installed");
            return Ok(());
        };
        prop_assert_eq!(sorted(&found.1.replace("No files found", "")), sorted(&expected.1));
    }
}
