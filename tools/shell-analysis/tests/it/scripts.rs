//! Random scripts: programs named `t0` to `t9` (they succeed) and `f0` to `f9` (they fail).
//!
//! Most follow the grammar and are then mutated; some are tokens in any order.
//! No script holds a slash, a tilde, or the name of another program than the wrappers, so that what
//! it redirects stays where it runs. Mutations take single characters away and put others in.

/// Characters that mutations put in.
const ALPHABET: &[u8] = b"'\"`$(){}[];&|<>#!*?\n\\=-,: tf01\t@%^+EOF";

/// A random number generator that a seed repeats (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((it ^ (it >> 31)) % limit as u64).unwrap()
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// What a script of tokens in any order is made of.
const TOKENS: [&str; 72] = [
    "t0",
    "t1",
    "t2",
    "t3 ",
    "t4 ",
    "t5",
    "f0",
    "f1 ",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    ")",
    "`",
    "`",
    "\"",
    "\"",
    "'",
    "'",
    "\\",
    " <<E\n",
    "\nE\n",
    " <<'E'\n",
    " <<-E\n",
    "${v:-",
    "}",
    "$((",
    "))",
    "((",
    "[[ ",
    " ]]",
    "if t6;then ",
    ";fi\n",
    "for v in a;do ",
    "while f2;do ",
    ";done\n",
    "case a in a)",
    ";;",
    "esac\n",
    "#",
    "eval ",
    " <(",
    ">o",
    "$v",
    "v=",
    "v=(",
    "{a,b}",
    "*",
    "!",
    "time ",
    "env ",
    "\\\n",
    "$'",
    "\t",
    "2>&1",
    "sh -c ",
    "h(){ ",
    "a",
    "=",
    "$",
    "-",
];

fn tokens(random: &mut Random) -> String {
    let count = 2 + random.below(14);
    (0..count).map(|_| random.pick(&TOKENS)).collect()
}

/// A script by its seed.
pub(crate) fn script(seed: u64) -> String {
    let mut random = Random::new(seed);
    if random.below(4) == 0 {
        return tokens(&mut random);
    }
    let mut text = list(&mut random, 3);
    if random.below(3) > 0 {
        for _ in 0..=random.below(3) {
            mutate(&mut text, &mut random);
        }
    }
    text
}

fn mutate(text: &mut String, random: &mut Random) {
    let mut bytes = std::mem::take(text).into_bytes();
    bytes.push(b'\n');
    let at = random.below(bytes.len());
    match random.below(4) {
        0 => drop(bytes.remove(at)),
        1 => bytes.insert(at, ALPHABET[random.below(ALPHABET.len())]),
        2 => bytes[at] = ALPHABET[random.below(ALPHABET.len())],
        _ => {
            let other = random.below(bytes.len());
            bytes.swap(at, other);
        }
    }
    *text = String::from_utf8(bytes).expect("is ASCII");
}

/// A program's name, sometimes in quotes.
fn program(random: &mut Random, letter: char) -> String {
    let digit = random.below(10);
    match random.below(12) {
        0 => format!("\"{letter}\"{digit}"),
        1 => format!("{letter}'{digit}'"),
        2 => format!("\\{letter}{digit}"),
        3 => format!("$'\\x{:x}'{digit}", u32::from(letter)),
        4 => format!("{letter}\\\n{digit}"),
        _ => format!("{letter}{digit}"),
    }
}

fn any(random: &mut Random) -> String {
    let letter = if random.below(3) == 0 { 'f' } else { 't' };
    program(random, letter)
}

fn word(random: &mut Random, depth: usize) -> String {
    let fixed = [
        "a",
        "-x",
        "'b c'",
        "\"d e\"",
        "x*",
        "{1,2}",
        "$v",
        "\"$v\"",
        "${v:-w}",
        "$((1 + 2))",
        "$((n = 3))",
        "$((n - 1))",
        "a#b",
        "\\;",
        "\"`t0`\"",
        "=",
        "\"a\\\"b\"",
        "'#'",
        "$?",
        "[ab]",
        "%",
        "\"$@\"",
        "${#v}",
        "$'q\\'r'",
    ];
    if depth == 0 {
        return random.pick(&fixed).to_owned();
    }
    match random.below(12) {
        0 => format!("${}", enclosed(random, depth - 1)),
        1 => format!("\"x ${} y\"", enclosed(random, depth - 1)),
        2 => format!("`{}`", simple(random, 0).replace('`', "")),
        3 => format!("${{v:-$({})}}", simple(random, depth - 1)),
        4 => format!("<({})", simple(random, depth - 1)),
        5 => format!("\"${{v:+{}}}\"", random.pick(&["a", "$v", "$(t1)"])),
        _ => random.pick(&fixed).to_owned(),
    }
}

fn simple(random: &mut Random, depth: usize) -> String {
    let mut text = String::new();
    if random.below(6) == 0 {
        text.push_str(random.pick(&["v=1 ", "v='a b' ", "v=$(t2) ", "w+=x ", "v= "]));
    }
    if random.below(10) == 0 {
        text.push_str(random.pick(&[">o1 ", "2>&1 ", "<i1 "]));
    }
    if random.below(7) == 0 {
        text.push_str(random.pick(&[
            "env ",
            "env v=1 ",
            "env -i PATH=\"$PATH\" L=\"$L\" ",
            "timeout 5 ",
            "nice ",
            "nice -n 1 ",
            "nohup ",
            "command ",
            "command -p ",
            "builtin ",
            "time ",
            "! ",
            "exec ",
            "stdbuf -o0 ",
        ]));
    }
    match random.below(14) {
        0 => text.push_str(random.pick(&["echo a", "true", ":", "false", "cd .", "export v=2"])),
        1..=5 => text.push_str(&carrier(random)),
        _ => {
            text.push_str(&any(random));
            for _ in 0..random.below(3) {
                text.push(' ');
                text.push_str(&word(random, depth));
            }
        }
    }
    if random.below(5) == 0 {
        text.push_str(random.pick(&[
            " >o2",
            " 2>&1",
            " >>o3",
            " <<<x",
            " <<<\"$(t3)\"",
            " &>o4",
            " >&2",
            " 3<i1",
            " <>o5",
            " # c $(t9)",
            " >|o6",
            " {n}>o7",
        ]));
    }
    text
}

/// A program that runs one which its words name.
fn carrier(random: &mut Random) -> String {
    let quoted = |it: String| it.replace('\'', "");
    match random.below(5) {
        0 => format!("eval '{}'", quoted(simple(random, 0))),
        1 => format!("{} -c '{}'", random.pick(&["sh", "bash"]), quoted(simple(random, 0))),
        2 => format!("echo a b | xargs {}", any(random)),
        3 => format!("find -maxdepth 0 -exec {} {{}} \\;", any(random)),
        _ => format!("trap '{}' EXIT", quoted(any(random))),
    }
}

fn here_document(random: &mut Random) -> String {
    let body = random.pick(&[
        "x\n",
        "$(t4)\n",
        "`t5` '\n",
        "\"$v\"\n",
        "\\$(t6)\n",
        "a\\\nE\n",
        "",
        "${v:-$(t7)}\n",
        "\tq\n",
    ]);
    let program = any(random);
    match random.below(5) {
        0 => format!("{program} <<E\n{body}E"),
        1 => format!("{program} <<'E'\n{body}E"),
        2 => format!("{program} <<-E\n{body}\tE"),
        3 => format!("{program} <<\\E | {}\n{body}E", any(random)),
        _ => format!("{program} <<E; {}\n{body}E", any(random)),
    }
}

fn command(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return simple(random, 0);
    }
    let inner = |random: &mut Random| list(random, depth - 1);
    let (t, f) = (program(random, 't'), program(random, 'f'));
    match random.below(20) {
        0 => format!("{{ {}\n}}", inner(random)),
        1 => format!("({}\n)", inner(random)),
        2 => format!("if {}; then {}\nelse {}\nfi", any(random), inner(random), inner(random)),
        3 => format!("while {f}; do {}\ndone", inner(random)),
        4 => format!("until {t}; do {}\ndone", inner(random)),
        5 => format!("for v in a b; do {}\ndone", inner(random)),
        6 => {
            format!("case {} in a) {}\n;; *) {}\nesac", word(random, 0), inner(random), any(random))
        }
        7 => format!("g{depth}() {{ {}\n}}; g{depth}", inner(random)),
        8 => {
            format!("[[ {} = a && -n $({}) ]]", word(random, 0).replace('[', ""), simple(random, 0))
        }
        9 => format!("for ((n=0; n<2; n++)); do {}\ndone", inner(random)),
        10 | 11 => here_document(random),
        12 => format!("(( n = 1 + {} ))", random.below(9)),
        13 => format!("function h{depth} {{ {}\n}} ; h{depth}", inner(random)),
        _ => simple(random, depth),
    }
}

/// A list in parentheses; a here-document has to end its line.
fn enclosed(random: &mut Random, depth: usize) -> String {
    let text = list(random, depth);
    if text.ends_with('E') { format!("({text}\n)") } else { format!("({text})") }
}

fn list(random: &mut Random, depth: usize) -> String {
    let mut text = command(random, depth);
    for _ in 0..random.below(3) {
        let separator = random.pick(&["; ", " && ", " || ", " | ", "\n", " & ", " |& ", " &&\n"]);
        // A here-document has to end its line.
        let separator = if text.ends_with('E') { "\n" } else { separator };
        text.push_str(separator);
        text.push_str(&command(random, depth));
    }
    text
}
