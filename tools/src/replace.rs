//! A file replaced in one step: whatever fails, the old file is left or the new one is there.
//!
//! A new file beside the old one gets its permissions, owner and attributes, and then its name.
//! Where that would lose something, as the other names of a file with hard links, the old file is
//! written over instead, as careful editors do, with a copy beside it until that is done.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use toolwright_contract::SeenFile;

use crate::encoding::Encoding;
use crate::fault::Fault;
use crate::text_file::{Present, digest};

/// Bytes written at once.
const CHUNK: usize = 256 << 10;

/// A change of the file system, as it is about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    MakeFolders,
    MakeFile,
    Open,
    Write,
    KeepAttributes,
    Sync,
    Rename,
}

/// Whether a step may be made: an error is that of the step. For tests of what is left behind.
type Before<'a> = &'a dyn Fn(Step) -> io::Result<()>;

/// The way to the disk.
#[derive(Clone, Copy)]
pub(crate) struct Disk<'a>(Before<'a>);

impl Disk<'static> {
    /// The disk as it is.
    pub(crate) const REAL: Self = Self(&|_| Ok(()));
}

/// What to write, and instead of what.
pub(crate) struct Replacing<'a> {
    /// The path without symbolic links.
    pub(crate) real: &'a Path,
    pub(crate) bytes: &'a [u8],
    pub(crate) encoding: Encoding,
    /// What is there now. Nothing: the file is made, with the folders above it.
    pub(crate) old: Option<&'a Present>,
}

impl Disk<'_> {
    /// Replaces or makes a file, and gives what is known of it now.
    ///
    /// # Errors
    ///
    /// What the system says. The old file is as it was then, and no other is left.
    pub(crate) fn replace(self, it: &Replacing<'_>) -> Result<SeenFile, Fault> {
        let metadata = match it.old {
            None => self.make(it)?,
            Some(old) => match self.beside(it, old).map_err(Fault::io("write", it.real))? {
                Some(temporary) => {
                    self.rename(temporary, it).map_err(Fault::io("write", it.real))?
                }
                None => self.write_over(it, old)?,
            },
        };
        Ok(SeenFile {
            bytes: it.bytes.len() as u64,
            digest: digest(it.bytes),
            length: it.bytes.len() as u64,
            modified: metadata.modified().ok(),
            partial: false,
            encoding: it.encoding.name(),
            shown: None,
        })
    }

    fn make(self, it: &Replacing<'_>) -> Result<Metadata, Fault> {
        let folder = it.folder().map_err(Fault::io("write", it.real))?;
        let above = folder.ancestors().take_while(|it| !it.exists()).map(Path::to_owned);
        let above: Vec<PathBuf> = above.collect();
        self.make_in(folder, it).map_err(|error| {
            // Those that have got something in them meanwhile can't be removed, and stay.
            drop(above.iter().try_for_each(fs::remove_dir));
            if error.kind() == io::ErrorKind::AlreadyExists {
                Fault::Changed
            } else {
                Fault::io("write", it.real)(error)
            }
        })
    }

    fn make_in(self, folder: &Path, it: &Replacing<'_>) -> io::Result<Metadata> {
        (self.0)(Step::MakeFolders)?;
        fs::create_dir_all(folder)?;
        let temporary = self.temporary(it)?;
        self.sync(temporary.as_file())?;
        let metadata = temporary.as_file().metadata()?;
        (self.0)(Step::Rename)?;
        // What has appeared under the name since it was looked at is not overwritten.
        temporary.persist_noclobber(it.real)?;
        sync_folder(folder);
        Ok(metadata)
    }

    /// The new content in a file beside the old one, which goes unless it is renamed.
    fn temporary(self, it: &Replacing<'_>) -> io::Result<NamedTempFile> {
        (self.0)(Step::MakeFile)?;
        let mut temporary = new_file().tempfile_in(it.folder()?)?;
        self.write(temporary.as_file_mut(), it.bytes)?;
        Ok(temporary)
    }

    /// A new file that loses nothing of the old one, if there can be one.
    fn beside(self, it: &Replacing<'_>, old: &Present) -> io::Result<Option<NamedTempFile>> {
        if !old.has_one_name() {
            return Ok(None);
        }
        let temporary = self.temporary(it)?;
        Ok(self.keep_attributes(&temporary, old).is_ok().then_some(temporary))
    }

    fn keep_attributes(self, new: &NamedTempFile, old: &Present) -> io::Result<()> {
        (self.0)(Step::KeepAttributes)?;
        keep_owner(new.as_file(), old.metadata())?;
        new.as_file().set_permissions(old.metadata().permissions())?;
        keep_extended(new.as_file(), old.file())
    }

    fn rename(self, temporary: NamedTempFile, it: &Replacing<'_>) -> io::Result<Metadata> {
        self.sync(temporary.as_file())?;
        let metadata = temporary.as_file().metadata()?;
        (self.0)(Step::Rename)?;
        temporary.persist(it.real)?;
        sync_folder(it.folder()?);
        Ok(metadata)
    }

    fn write_over(self, it: &Replacing<'_>, old: &Present) -> Result<Metadata, Fault> {
        let failed = || Fault::io("write", it.real);
        let backup = Replacing { bytes: &old.bytes, ..*it };
        let copy = self.temporary(&backup).map_err(failed())?;
        self.sync(copy.as_file()).map_err(failed())?;
        (self.0)(Step::Open).map_err(failed())?;
        let mut file = OpenOptions::new().write(true).open(it.real).map_err(failed())?;
        let Err(error) = self.fill(&mut file, it.bytes) else {
            return file.metadata().map_err(failed());
        };
        if self.fill(&mut file, &old.bytes).is_ok() {
            return Err(failed()(error));
        }
        // The copy is all that is left of the old content.
        let copy = copy.into_temp_path().keep().map_err(|it| failed()(it.error))?;
        Err(Fault::Damaged { path: it.real.to_owned(), copy, error })
    }

    fn fill(self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.rewind()?;
        self.write(file, bytes)?;
        file.set_len(bytes.len() as u64)?;
        self.sync(file)
    }

    fn write(self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        bytes.chunks(CHUNK).try_for_each(|chunk| {
            (self.0)(Step::Write)?;
            file.write_all(chunk)
        })
    }

    fn sync(self, file: &File) -> io::Result<()> {
        (self.0)(Step::Sync)?;
        file.sync_all()
    }
}

impl<'a> Replacing<'a> {
    fn folder(&self) -> io::Result<&'a Path> {
        self.real.parent().ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }
}

/// A new name must last as well; where a folder can't be synced, it lasts all the same.
fn sync_folder(folder: &Path) {
    drop(File::open(folder).and_then(|it| it.sync_all()));
}

/// A temporary file with the permissions of any new file.
fn new_file() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".toolwright-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As for `open`, the process's mask takes away what it takes from every new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

#[cfg(unix)]
fn keep_owner(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let now = new.metadata()?;
    if (now.uid(), now.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(new, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Access lists, capabilities and what users attach to a file are extended attributes.
#[cfg(target_os = "linux")]
fn keep_extended(new: &File, old: &File) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
    /// The largest value, and list of names, that Linux has, in bytes.
    const MOST: usize = 64 << 10;
    let mut names = vec![0; MOST];
    let Ok(length) = flistxattr(old, &mut names[..]) else {
        return Ok(()); // The file system has none.
    };
    for name in names[..length].split_inclusive(|it| *it == 0) {
        let name = std::ffi::CStr::from_bytes_with_nul(name).map_err(io::Error::other)?;
        let mut value = vec![0; MOST];
        let length = fgetxattr(old, name, &mut value[..])?;
        let mut same = vec![0; length + 1];
        let has_it =
            fgetxattr(new, name, &mut same[..]).is_ok_and(|it| same[..it] == value[..length]);
        if !has_it {
            fsetxattr(new, name, &value[..length], XattrFlags::empty())?;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn keep_extended(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tempfile::TempDir;

    use super::*;

    const OLD: &[u8] = b"old";

    /// A folder with a file in it, perhaps with a second name.
    fn folder(old: Option<&[u8]>, two_names: bool) -> (TempDir, PathBuf) {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("file");
        if let Some(old) = old {
            fs::write(&file, old).unwrap();
        }
        if two_names {
            fs::hard_link(&file, folder.path().join("other")).unwrap();
        }
        (folder, file)
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    fn replace(real: &Path, new: &[u8], before: Before<'_>) -> Result<SeenFile, Fault> {
        let old = Present::read(real).unwrap();
        let (encoding, old) = (Encoding::UTF8, old.as_ref());
        Disk(before).replace(&Replacing { real, bytes: new, encoding, old })
    }

    /// Fails the steps that `fails` names by their number, until a replacement succeeds. Gives the
    /// number of its steps.
    fn with_failures(
        old: Option<&[u8]>,
        two_names: bool,
        fails: fn(step: u32, first: u32) -> bool,
        failed: impl Fn(&Path),
    ) -> u32 {
        // Several chunks, so that a file is half written.
        let new = vec![b'n'; 3 * CHUNK];
        for first in 0.. {
            let (folder, file) = folder(old, two_names);
            let steps = Cell::new(0);
            let before = |_: Step| {
                let step = steps.replace(steps.get() + 1);
                if fails(step, first) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
            };
            let replaced = replace(&file, &new, &before);
            if steps.get() <= first {
                replaced.unwrap();
                assert_eq!(fs::read(&file).unwrap(), new);
                return steps.get();
            }
            if replaced.is_ok() {
                // It went another way.
                assert_eq!(fs::read(&file).unwrap(), new);
            } else {
                failed(&file);
            }
            let names = names(folder.path());
            assert!(names.iter().all(|it| it == "file" || it == "other"), "{first}: {names:?}");
        }
        unreachable!("numbers end")
    }

    #[test]
    fn whichever_step_fails_there_is_the_old_file_or_the_new_one() {
        for two_names in [false, true] {
            for fails in [|step, first| step == first, |step: u32, first| step >= first] {
                // When nothing works any more, what was written over can't be put back.
                if two_names && fails(1, 0) {
                    continue;
                }
                let old = |file: &Path| assert_eq!(fs::read(file).unwrap(), OLD);
                let steps = with_failures(Some(OLD), two_names, fails, old);
                assert!(steps > 6, "{steps}");
            }
        }
        let nothing = |file: &Path| assert!(!file.exists());
        let steps = with_failures(None, false, |step, first| step >= first, nothing);
        assert!(steps > 5, "{steps}");
    }

    #[test]
    fn what_can_not_be_put_back_is_kept_in_a_copy() {
        let (folder, file) = folder(Some(OLD), true);
        let writes = Cell::new(0);
        let before = |step: Step| {
            let write = writes.replace(writes.get() + u32::from(step == Step::Write));
            if write > 1 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        };
        let replaced = replace(&file, &vec![b'n'; 3 * CHUNK], &before);
        let Err(Fault::Damaged { copy, .. }) = replaced else { panic!("{replaced:?}") };
        assert_eq!(fs::read(&copy).unwrap(), OLD);
        assert_eq!(names(folder.path()).len(), 3);
    }

    #[test]
    fn folders_that_were_made_for_nothing_are_removed() {
        let (folder, file) = folder(Some(OLD), false);
        let real = folder.path().join("a/b/file");
        let full = |step: Step| {
            if step == Step::Sync { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        };
        replace(&real, b"new", &full).unwrap_err();
        assert_eq!((names(folder.path()), file.exists()), (vec!["file".to_owned()], true));
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_overwritten() {
        let (folder, _) = folder(None, false);
        let real = folder.path().join("file");
        let appears = |step: Step| {
            if step == Step::Rename { fs::write(&real, OLD) } else { Ok(()) }
        };
        assert!(matches!(replace(&real, b"new", &appears), Err(Fault::Changed)));
        assert_eq!((fs::read(&real).unwrap(), names(folder.path()).len()), (OLD.to_vec(), 1));
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_attributes_are_kept() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_folder, file) = folder(Some(OLD), false);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o4751)).unwrap();
        #[cfg(target_os = "linux")]
        let attached = {
            let open = File::open(&file).unwrap();
            rustix::fs::fsetxattr(&open, "user.note", b"kept", rustix::fs::XattrFlags::empty())
        };
        replace(&file, b"new", &|_| Ok(())).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o4751);
        #[cfg(target_os = "linux")]
        if attached.is_ok() {
            let mut value = [0; 9];
            let length = rustix::fs::getxattr(&file, "user.note", &mut value).unwrap();
            assert_eq!(&value[..length], b"kept");
        }
    }
}
