//! Rust source as a flat list of tokens that know their line and their closing bracket.
//!
//! Tokens see inside macros, where a syntax tree does not, and a rule about names, lengths or calls
//! needs no more.

use std::{ops::RangeInclusive, str::FromStr};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A word, sign, literal (with its quotes) or bracket.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
    /// Where the bracket that opens here is closed; for any other token its own place.
    close: usize,
}

/// One source file.
pub(crate) struct Syntax {
    tokens: Vec<Token>,
    /// Line ranges of the items under `#[cfg(test)]` or `#[test]`.
    tests: Vec<RangeInclusive<usize>>,
}

impl Syntax {
    pub(crate) fn parse(path: &str, text: &str) -> Self {
        let stream = TokenStream::from_str(text)
            .unwrap_or_else(|error| panic!("{path}: {error}; `cargo check` says where"));
        let mut tokens = Vec::new();
        flatten(stream, &mut tokens);
        let tests = test_lines(&tokens, text.lines().count());
        Self { tokens, tests }
    }

    pub(crate) fn in_test(&self, line: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&line))
    }

    /// Places where a run of tokens reads as the given words.
    pub(crate) fn places(&self, words: &[&str]) -> impl Iterator<Item = usize> {
        (0..self.tokens.len()).filter(move |at| self.reads(*at, words))
    }

    pub(crate) fn reads(&self, at: usize, words: &[&str]) -> bool {
        let rest = self.tokens.get(at..).unwrap_or_default();
        rest.len() >= words.len() && rest.iter().zip(words).all(|(token, word)| token.text == *word)
    }

    pub(crate) fn at(&self, place: usize) -> Option<&Token> {
        self.tokens.get(place)
    }

    /// The names of modules, declared (`mod a;`) or inline (`mod a {`), with their lines.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &Token> {
        self.places(&["mod"]).filter_map(|at| self.at(at + 1)).filter(|token| is_word(&token.text))
    }

    /// Name, first and last line of every function that has a body.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.places(&["fn"]).filter_map(|at| {
            let name = self.at(at + 1).filter(|token| is_word(&token.text))?;
            let end = item_end(&self.tokens, at);
            let body = self.tokens[end].text == "}";
            body.then(|| (name.text.as_str(), self.tokens[at].line, self.tokens[end].line))
        })
    }

    /// Whether a word occurs outside tests, imports and module declarations.
    pub(crate) fn uses(&self, word: &str) -> bool {
        let mut at = 0;
        while let Some(token) = self.at(at) {
            if ["use", "mod"].contains(&token.text.as_str()) {
                at = item_end(&self.tokens, at);
            } else if token.text == word && !self.in_test(token.line) {
                return true;
            }
            at += 1;
        }
        false
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let place = tokens.len();
        let text = match tree {
            TokenTree::Ident(ident) => ident.to_string(),
            TokenTree::Punct(punct) => punct.as_char().to_string(),
            TokenTree::Literal(literal) => literal.to_string(),
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                tokens.push(Token { text: open.to_owned(), line, close: place });
                flatten(group.stream(), tokens);
                tokens[place].close = tokens.len();
                let last = group.span_close().start().line;
                tokens.push(Token { text: close.to_owned(), line: last, close: tokens.len() });
                continue;
            }
        };
        tokens.push(Token { text, line, close: place });
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// The place of the `;` or `}` that ends the item in which `start` stands.
fn item_end(tokens: &[Token], start: usize) -> usize {
    let mut at = start;
    while at < tokens.len() {
        let token = &tokens[at];
        match token.text.as_str() {
            "{" => return token.close,
            ";" => return at,
            "}" | ")" | "]" => return at.saturating_sub(1),
            _ => at = token.close + 1,
        }
    }
    tokens.len() - 1
}

fn test_lines(tokens: &[Token], last_line: usize) -> Vec<RangeInclusive<usize>> {
    let attribute = |at: usize| {
        let inner = tokens.get(at + 1).is_some_and(|token| token.text == "!");
        let open = if inner { at + 2 } else { at + 1 };
        let bracket = tokens.get(open).filter(|token| token.text == "[")?;
        is_test(&tokens[open + 1..bracket.close]).then_some((inner, bracket.close))
    };
    let hashes = (0..tokens.len()).filter(|at| tokens[*at].text == "#");
    hashes
        .filter_map(|at| {
            let (inner, close) = attribute(at)?;
            let end = if inner { last_line } else { tokens[item_end(tokens, close + 1)].line };
            Some(tokens[at].line..=end)
        })
        .collect()
}

/// `cfg(test)`, `cfg(all(test, ...))`, `test`, `tokio::test(...)`.
fn is_test(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute.iter().map(|token| token.text.as_str()).collect();
    match words.as_slice() {
        ["cfg", arguments @ ..] => arguments.contains(&"test") && !arguments.contains(&"not"),
        ["test", ..] => true,
        [.., ":", "test"] => true,
        [_, ":", ":", "test", "(", ..] => true,
        _ => false,
    }
}

#[test]
fn test_items_are_told_from_code() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}\n#[tokio::test(x)]\nfn d() {\n}\n#[cfg(not(test))]\nfn e() {}";
    let syntax = Syntax::parse("a.rs", text);
    let tested: Vec<usize> = (1..=11).filter(|line| syntax.in_test(*line)).collect();
    assert_eq!(tested, [2, 3, 4, 5, 7, 8, 9]);
}

#[test]
fn functions_are_found_with_their_lines() {
    let text = "trait T {\n fn declared(x: fn(u8) -> u8);\n}\nconst fn g<T>() -> [u8; { 1 }]\nwhere T: Copy {\n [0]\n}";
    let found: Vec<_> =
        Syntax::parse("a.rs", text).functions().map(|(n, a, b)| (n.to_owned(), a, b)).collect();
    assert_eq!(found, [("g".to_owned(), 4, 7)]);
}
