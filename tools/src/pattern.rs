//! Globs: from what a model sends to what the walk is held against.

use std::path::Path;

use ignore::overrides::{Override, OverrideBuilder};

use crate::fault::Fault;

/// Longest text of globs that is compiled, in bytes: a thousand braces are some milliseconds.
const LONGEST: usize = 4_096;

/// The globs that select files below `root`, as ripgrep's `--glob` does: lines of a gitignore
/// file that select instead of leaving out.
///
/// # Errors
///
/// What the engine says of a glob.
pub(crate) fn selection<'a>(
    root: &Path,
    globs: impl IntoIterator<Item = &'a str>,
) -> Result<Override, Fault> {
    let remedy = "Correct the glob: `\\` before `{`, `[`, `*` or `?` takes it as it stands.";
    let told = |it: ignore::Error| Fault::BadPattern { engine: it.to_string(), remedy };
    let mut builder = OverrideBuilder::new(root);
    for glob in globs {
        if glob.contains('\0') {
            return Err(Fault::NulInPath);
        }
        if glob.len() > LONGEST {
            return Err(Fault::TooLong { what: "glob", bytes: glob.len(), limit: LONGEST });
        }
        builder.add(glob).map_err(told)?;
    }
    builder.build().map_err(told)
}

/// The glob that finds below `folder` what a pattern means, which may be absolute if it stays
/// there: `/folder/src/*.rs` is `/src/*.rs`, and `./*.rs` is `/*.rs`.
///
/// # Errors
///
/// What is wrong with the pattern.
pub(crate) fn below(pattern: &str, folder: &Path) -> Result<String, Fault> {
    if pattern.trim().is_empty() {
        return Err(Fault::EmptyPattern("Send `**/*` for every file."));
    }
    crate::paths::refuse_unusable(pattern)?;
    let outside = || Fault::Outside { pattern: pattern.to_owned(), folder: folder.to_owned() };
    let relative = match pattern.strip_prefix('/') {
        Some(_) => {
            let rest = folder.to_str().and_then(|it| pattern.strip_prefix(it));
            let rest = rest.filter(|it| it.starts_with('/')).ok_or_else(outside)?;
            rest.to_owned()
        }
        None => match pattern.strip_prefix("./") {
            Some(rest) => format!("/{rest}"),
            None => pattern.to_owned(),
        },
    };
    if relative.split('/').any(|it| it == "..") {
        return Err(outside());
    }
    // A folder stands for what is in it.
    Ok(if relative.ends_with('/') { format!("{relative}**") } else { relative })
}

/// The globs of a list: they are apart by commas or white space, except in braces and brackets
/// and after a backslash.
pub(crate) fn listed(globs: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut depth, mut escaped) = (0, 0_u32, false);
    for (at, it) in globs.char_indices() {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' | ' ' | '\t' | '\n' if depth == 0 => {
                found.push(&globs[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&globs[start..]);
    found.retain(|it| !it.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_taken_from_its_folder_on() {
        for (pattern, glob) in [
            ("*.rs", "*.rs"),
            ("src/**/*.{rs,toml}", "src/**/*.{rs,toml}"),
            ("./*.rs", "/*.rs"),
            ("/a/b/src/*.rs", "/src/*.rs"),
            ("src/", "src/**"),
        ] {
            assert_eq!(below(pattern, Path::new("/a/b")).unwrap(), glob, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_leads_elsewhere_is_refused() {
        for pattern in ["", " ", "~/x", "a\0", "/etc/*", "/a/bc/*", "../*.rs", "x/../../y"] {
            assert!(below(pattern, Path::new("/a/b")).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_list_of_globs_is_taken_apart_outside_of_braces() {
        for (list, globs) in [
            ("*.rs", vec!["*.rs"]),
            ("*.rs, *.toml", vec!["*.rs", "*.toml"]),
            ("*.{rs,toml} !x", vec!["*.{rs,toml}", "!x"]),
            (r"a\ b\,c", vec![r"a\ b\,c"]),
            ("[, ]x", vec!["[, ]x"]),
            (" ", vec![]),
        ] {
            assert_eq!(listed(list), globs, "{list}");
        }
    }

    #[test]
    fn what_the_engine_refuses_is_told_with_a_remedy() {
        let thousand = "{a,b}".repeat(1_000);
        let nested = "{a,".repeat(300);
        let told = ["{a", "[a", "a\0", &thousand, &nested].map(|it| {
            let selected = selection(Path::new("/"), [it]);
            selected.map_or_else(|it| it.to_string(), |_| "fine".to_owned())
        });
        insta::assert_snapshot!(told.join("\n--\n"), @r#"
        error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
        Correct the glob: `\` before `{`, `[`, `*` or `?` takes it as it stands.
        --
        error parsing glob '[a': unclosed character class; missing ']'
        Correct the glob: `\` before `{`, `[`, `*` or `?` takes it as it stands.
        --
        The path contains a NUL character, which no file's name has. Send it without.
        --
        The glob has 5000 bytes, and more than 4096 are not compiled. Send a shorter one, or search several times.
        --
        error parsing glob '{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a…{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,{a,': alternate groups nested too deeply
        Correct the glob: `\` before `{`, `[`, `*` or `?` takes it as it stands.
        "#);
    }
}
