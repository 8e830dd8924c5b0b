//! What the results of one message may take up in all.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Most base64 characters of images and documents in one message: a request of the Messages API
/// holds 32 MB, and the rest of it must fit too.
const MEDIA: usize = 20 * 1024 * 1024;

/// What is left of a message; results take of it in the order in which they come.
#[derive(Debug)]
pub(crate) struct Room {
    chars: AtomicUsize,
    media: AtomicUsize,
}

impl Room {
    /// Room for so many characters of text.
    pub(crate) fn new(chars: usize) -> Self {
        Self { chars: AtomicUsize::new(chars), media: AtomicUsize::new(MEDIA) }
    }

    /// Characters of text that are left.
    pub(super) fn chars(&self) -> usize {
        self.chars.load(Ordering::Relaxed)
    }

    /// Takes so many characters, or what is left.
    pub(super) fn take_chars(&self, chars: usize) {
        let left = |left: usize| Some(left.saturating_sub(chars));
        // It always changes something, so that it can't fail.
        self.chars.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).unwrap_or_default();
    }

    /// Takes so many characters of media, unless there are fewer.
    pub(super) fn take_media(&self, chars: usize) -> bool {
        let left = |left: usize| left.checked_sub(chars);
        self.media.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
    }
}
