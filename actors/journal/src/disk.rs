//! The file operations of the journal, and nothing else: the seam where tests inject faults.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// The file operations of a journal. Each does what the call of the operating system of that name
/// does, once: retries and completing what came short belong to the caller.
pub trait Disk: Send + Sync + 'static {
    /// Makes a folder that only its owner may enter, and those above it. One that exists is
    /// tightened.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;

    /// Opens a file for reading and writing; makes it, for its owner alone, if it isn't there.
    ///
    /// # Errors
    ///
    /// What the operating system says, and whatever is no regular file: a link is not followed.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// An open file. Dropping it gives up its lock.
pub trait DiskFile: Send {
    /// Locks the file in the kernel, which forgets the lock with the process; false if another
    /// open file has the lock.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn try_lock(&mut self) -> io::Result<bool>;

    /// Reads from a place; 0 at the end.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes at a place, perhaps less than all.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file off.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Makes what was written durable.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn sync(&mut self) -> io::Result<()>;
}

/// The disk of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
            builder.mode(0o700).create(folder)?;
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
        }
        #[cfg(not(unix))]
        builder.create(folder)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            use std::os::unix::fs::OpenOptionsExt as _;
            // Not blocking, so that a pipe put in its place can't hold the caller up.
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
            options.mode(0o600).custom_flags(flags.bits() as i32);
        }
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
        Ok(Box::new(file))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        #[cfg(unix)]
        File::open(folder)?.sync_all()?;
        // Elsewhere a folder can't be opened; its names are durable with the file.
        #[cfg(not(unix))]
        let _ = folder;
        Ok(())
    }
}

impl DiskFile for File {
    fn try_lock(&mut self) -> io::Result<bool> {
        match File::try_lock(self) {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    #[cfg(unix)]
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, at)
    }

    #[cfg(unix)]
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(self, bytes, at)
    }

    #[cfg(not(unix))]
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        use std::io::{Read as _, Seek as _};
        self.seek(io::SeekFrom::Start(at))?;
        io::Read::read(self, buffer)
    }

    #[cfg(not(unix))]
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        use std::io::{Seek as _, Write as _};
        self.seek(io::SeekFrom::Start(at))?;
        io::Write::write(self, bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A file, read from a place on.
pub(crate) struct ReadFrom<'a> {
    pub(crate) file: &'a mut dyn DiskFile,
    pub(crate) at: u64,
}

impl io::Read for ReadFrom<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(self.at, buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}
