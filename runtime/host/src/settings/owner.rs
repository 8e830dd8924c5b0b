//! Whether a managed file is really the administrator's.

use std::path::Path;

use super::file::SettingsError;

/// Checks that nobody but the administrator could have written a file: it, and each folder above,
/// belongs to root and is writable by nobody else.
///
/// # Errors
///
/// The first file or folder that somebody else can write.
#[cfg(unix)]
pub(super) fn check(file: &Path) -> Result<(), SettingsError> {
    use std::os::unix::fs::MetadataExt as _;

    /// Write for the group and for others.
    const OTHERS_WRITE: u32 = 0o022;
    /// In such a folder nobody can replace what isn't theirs.
    const STICKY: u32 = 0o1000;

    let real = file.canonicalize().map_err(|error| SettingsError::Unreadable {
        file: file.to_owned(),
        what: error.to_string(),
    })?;
    for it in real.ancestors() {
        let found = it.metadata().map_err(|error| SettingsError::Unreadable {
            file: it.to_owned(),
            what: error.to_string(),
        })?;
        let owner = |what: String| SettingsError::Owner { file: it.to_owned(), what };
        if found.uid() != 0 {
            return Err(owner(format!("it belongs to user {}", found.uid())));
        }
        let is_shared = it != real && found.mode() & STICKY != 0;
        if found.mode() & OTHERS_WRITE != 0 && !is_shared {
            return Err(owner("others than its owner can write it".to_owned()));
        }
    }
    Ok(())
}

/// Elsewhere than on Unix the owner isn't checked yet, so managed files aren't read there.
#[cfg(not(unix))]
pub(super) fn check(file: &Path) -> Result<(), SettingsError> {
    let what = "its owner can't be checked on this system".to_owned();
    Err(SettingsError::Owner { file: file.to_owned(), what })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_a_folder_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("managed-settings.json");
        std::fs::write(&file, "{}").expect("a file");
        let open = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(&file, open).expect("a mode");
        assert!(matches!(check(&file), Err(SettingsError::Owner { .. })));
    }
}
