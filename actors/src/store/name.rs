//! What the file of a result is called: its id where that is safe, and never a path.

/// Longest encoded file name, in bytes: well under the 255 of common file systems.
const NAME_BYTES: usize = 120;

/// What is kept of an id that isn't a plain name, in characters.
const HEAD_CHARS: usize = 40;

/// The file name of a result: the id where that is a plain name, else what is plain of it and a
/// hash. `attempt` counts the names that were taken already: by an id that came again, or by one
/// that differs in letter case alone on a file system that doesn't tell them apart.
pub(super) fn file_name(id: &str, attempt: u32, extension: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    let plain = !id.is_empty() && id.chars().all(is_plain) && id.len() <= NAME_BYTES;
    let stem = if plain && !is_reserved(&id.to_ascii_lowercase()) {
        id.to_owned()
    } else {
        let head: String = id.chars().filter(|&it| is_plain(it)).take(HEAD_CHARS).collect();
        format!("{head}.{:016x}", hash(id))
    };
    match attempt {
        0 => format!("{stem}.{extension}"),
        more => format!("{stem}.{more}.{extension}"),
    }
}

/// Names that mean a device on Windows.
fn is_reserved(id: &str) -> bool {
    matches!(id, "con" | "prn" | "aux" | "nul")
        || (id.len() == 4 && (id.starts_with("com") || id.starts_with("lpt")))
}

/// FNV-1a: the same on every machine and in every version.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn path_characters_never_reach_the_file_system() {
        for id in ["../../etc/passwd", "a/b", "a\\b", "", ".", "..", "a\0b", "nul", "ä"] {
            let name = file_name(id, 0, "txt");
            let stem = name.strip_suffix(".txt").unwrap();
            assert!(stem.chars().all(|it| it.is_ascii_alphanumeric() || "_-.".contains(it)));
            assert!(!matches!(stem, "" | "." | ".." | "nul"), "{id:?} became {name:?}");
        }
    }

    proptest! {
        #[test]
        fn different_ids_have_different_names(a in ".{0,300}", b in ".{0,300}") {
            let (x, y) = (file_name(&a, 0, "txt"), file_name(&b, 0, "txt"));
            prop_assert!(a == b || x != y);
            prop_assert!(x.len() <= 200 && x != file_name(&a, 1, "txt"));
        }
    }
}
