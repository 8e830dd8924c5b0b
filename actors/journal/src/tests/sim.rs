//! A disk in memory that fails when told to, writes short, and loses what wasn't synced.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::disk::{Disk, DiskFile};

/// The disk. Clones are the same disk.
#[derive(Clone, Default)]
pub(crate) struct SimDisk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    files: HashMap<PathBuf, Contents>,
    fault: Option<Fault>,
    operations: u64,
    struck: bool,
    /// At most so many bytes a write.
    short: Option<usize>,
    /// Each other operation is interrupted by a signal first.
    signals: bool,
    signalled: bool,
    syncs: u64,
    locked: Vec<PathBuf>,
}

#[derive(Clone, Default)]
struct Contents {
    cached: Vec<u8>,
    durable: Vec<u8>,
    /// Its name would survive a power failure.
    named: bool,
}

/// Which operation fails, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// Counted from 1.
    pub(crate) at: u64,
    /// And all after it.
    pub(crate) for_ever: bool,
    /// The code of the operating system.
    pub(crate) errno: i32,
}

impl SimDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// From now on, counting anew.
    pub(crate) fn fail(&self, fault: Fault) {
        let mut state = self.state();
        (state.fault, state.operations, state.struck) = (Some(fault), 0, false);
    }

    pub(crate) fn write_short(&self, bytes: usize) {
        self.state().short = Some(bytes);
    }

    pub(crate) fn interrupt(&self) {
        self.state().signals = true;
    }

    /// Mends it, and says whether the fault had struck.
    pub(crate) fn heal(&self) -> bool {
        let mut state = self.state();
        state.fault = None;
        std::mem::take(&mut state.struck)
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// What a killed process leaves.
    pub(crate) fn bytes(&self, path: &Path) -> Vec<u8> {
        self.state().files.get(path).map(|it| it.cached.clone()).unwrap_or_default()
    }

    /// The power fails: of what wasn't synced, the first `kept` bytes are left.
    pub(crate) fn power_failure(&self, kept: usize) {
        for contents in self.state().files.values_mut() {
            let common = contents.durable.len().min(contents.cached.len());
            let more = contents.cached.get(common..(common + kept).min(contents.cached.len()));
            let mut left = contents.durable.clone();
            left.extend(more.unwrap_or_default());
            if !contents.named {
                left.clear();
            }
            contents.cached = left.clone();
            contents.durable = left;
        }
    }
}

impl State {
    fn operate(&mut self) -> io::Result<()> {
        if self.signals && !std::mem::replace(&mut self.signalled, true) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.signalled = false;
        self.operations += 1;
        match self.fault {
            Some(it) if self.operations == it.at || (it.for_ever && self.operations > it.at) => {
                self.struck = true;
                Err(io::Error::from_raw_os_error(it.errno))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// An operation that no signal can interrupt.
    fn operate_whole(&mut self) -> io::Result<()> {
        self.signalled = true;
        self.operate()
    }
}

impl Disk for SimDisk {
    fn make_folder(&self, _: &Path) -> io::Result<()> {
        self.state().operate_whole()
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.operate_whole()?;
        state.files.entry(path.to_owned()).or_default();
        Ok(Box::new(SimFile { disk: self.clone(), path: path.to_owned(), locks: false }))
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.operate_whole()?;
        state.files.values_mut().for_each(|it| it.named = true);
        Ok(())
    }
}

struct SimFile {
    disk: SimDisk,
    path: PathBuf,
    locks: bool,
}

impl SimFile {
    fn with<T>(&self, act: impl FnOnce(&mut Contents) -> T) -> T {
        act(self.disk.state().files.entry(self.path.clone()).or_default())
    }
}

impl DiskFile for SimFile {
    fn try_lock(&mut self) -> io::Result<bool> {
        let mut state = self.disk.state();
        state.operate_whole()?;
        if state.locked.contains(&self.path) {
            return Ok(false);
        }
        state.locked.push(self.path.clone());
        self.locks = true;
        Ok(true)
    }

    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.disk.state().operate()?;
        Ok(self.with(|it| {
            let rest = it.cached.get(at as usize..).unwrap_or_default();
            let length = rest.len().min(buffer.len());
            buffer[..length].copy_from_slice(&rest[..length]);
            length
        }))
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let short = {
            let mut state = self.disk.state();
            state.operate()?;
            state.short.unwrap_or(usize::MAX)
        };
        let bytes = &bytes[..bytes.len().min(short)];
        self.with(|it| {
            let end = at as usize + bytes.len();
            it.cached.resize(it.cached.len().max(end), 0);
            it.cached[at as usize..end].copy_from_slice(bytes);
        });
        Ok(bytes.len())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.disk.state().operate_whole()?;
        self.with(|it| it.cached.truncate(length as usize));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        {
            let mut state = self.disk.state();
            state.operate_whole()?;
            state.syncs += 1;
        }
        self.with(|it| it.durable = it.cached.clone());
        Ok(())
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        if self.locks {
            let path = std::mem::take(&mut self.path);
            self.disk.state().locked.retain(|it| *it != path);
        }
    }
}
