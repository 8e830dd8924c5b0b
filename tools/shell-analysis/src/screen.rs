//! Characters that a person and a shell read differently.

use crate::doubt::{Doubt, Reason};

/// The doubts about the characters of a command, the first of each kind.
pub(crate) fn screen(text: &str) -> Vec<Doubt> {
    if text.bytes().all(|it| (b' '..0x7f).contains(&it) || it == b'\n' || it == b'\t') {
        return Vec::new();
    }
    let mut doubts: Vec<Doubt> = Vec::new();
    let mut before = ' ';
    for (position, it) in text.char_indices() {
        let reason = if is_lookalike_space(it) {
            Some(Reason::LookalikeSpace(it))
        } else if is_hidden(it, before) {
            Some(Reason::HiddenCharacter(it))
        } else {
            None
        };
        if let Some(reason) = reason
            && doubts.iter().all(|known| known.reason != reason)
        {
            doubts.push(Doubt { reason, position });
        }
        before = it;
    }
    doubts
}

fn is_lookalike_space(it: char) -> bool {
    it.is_whitespace() && !it.is_ascii() || matches!(it, '\u{2800}' | '\u{3164}' | '\u{ffa0}')
}

/// Joiners and variation selectors are seen where they join: after a symbol.
fn is_hidden(it: char, before: char) -> bool {
    match it {
        '\n' | '\t' => false,
        '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => {
            u32::from(before) < 0x2000 && !before.is_ascii_digit()
        }
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' => true,
        '\u{fff0}'..='\u{fffc}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}
