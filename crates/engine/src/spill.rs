//! Documents that do not fit in memory, in temporary files.
//!
//! The runs of one command share a file, as long as one is written after the other, so that a
//! sort of many runs takes one descriptor.

use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use language::aggregate::{Documents, Spill, Spilled};
use parking_lot::Mutex;
use rustix::process::{Resource, getrlimit};
use std::fs::File;
use std::io::{BufReader, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Temporary files open at once, within the descriptors that connections leave.
pub const TEMPORARY_FILES_MAX: usize = 256;
/// The share of all descriptors that temporary files leave alone.
const STORE_DESCRIPTORS_SHARE: u64 = 4;
/// What is written to a file at a time.
const WRITE_BYTES: usize = 64 * 1024;

static OPEN: AtomicUsize = AtomicUsize::new(0);

/// The files of one command.
#[derive(Clone, Default)]
pub struct TemporaryFiles {
    /// One that nobody writes to.
    idle: Arc<Mutex<Option<Idle>>>,
}

/// A file, and where it ends.
struct Idle {
    file: Arc<Temporary>,
    end: u64,
}

/// A file without a name: it goes when it is closed, however that comes about.
struct Temporary {
    file: File,
}

impl Temporary {
    fn new() -> Result<Temporary> {
        if OPEN.fetch_add(1, Ordering::Relaxed) >= TEMPORARY_FILES_MAX {
            OPEN.fetch_sub(1, Ordering::Relaxed);
            return Err(Code::ExceededMemoryLimit.error(format!(
                "{TEMPORARY_FILES_MAX} temporary files are open, which is the limit; try again \
                 when other sorts and cursors are done"
            )));
        }
        match tempfile::tempfile() {
            Ok(file) if leaves_descriptors(&file) => Ok(Temporary { file }),
            Ok(_) => {
                OPEN.fetch_sub(1, Ordering::Relaxed);
                Err(Code::ExceededMemoryLimit.error(
                    "there are too few descriptors left for a temporary file; try again when \
                     other sorts and cursors are done, or see ulimit -n",
                ))
            }
            Err(error) => {
                OPEN.fetch_sub(1, Ordering::Relaxed);
                Err(failed(error))
            }
        }
    }
}

/// Whether a new file leaves enough descriptors for the store, which takes no more writes once
/// it cannot open a file. The system gives the lowest that is free, so its number shows how
/// many are taken.
fn leaves_descriptors(file: &File) -> bool {
    let number = u64::from(file.as_raw_fd().unsigned_abs());
    let limit = getrlimit(Resource::Nofile).current;
    limit.is_none_or(|limit| number < limit - limit / STORE_DESCRIPTORS_SHARE)
}

impl Drop for Temporary {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

impl TemporaryFiles {
    /// A new run, at the end of a file.
    pub fn begin(&self) -> Result<Box<dyn Spill>> {
        let idle = self.idle.lock().take();
        let (file, start) = match idle {
            Some(Idle { file, end }) => (file, end),
            None => (Arc::new(Temporary::new()?), 0),
        };
        let files = self.clone();
        Ok(Box::new(TemporaryRun { files, file, start, end: start, buffer: Vec::new() }))
    }
}

/// A run that is being written.
struct TemporaryRun {
    files: TemporaryFiles,
    file: Arc<Temporary>,
    start: u64,
    /// Where the file ends, without what is buffered.
    end: u64,
    buffer: Vec<u8>,
}

impl TemporaryRun {
    fn flush(&mut self) -> Result<()> {
        self.file.file.write_all_at(&self.buffer, self.end).map_err(failed)?;
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl Spill for TemporaryRun {
    fn push(&mut self, document: &RawDocument) -> Result<()> {
        self.buffer.extend_from_slice(document.as_bytes());
        if self.buffer.len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<Box<dyn Spilled>> {
        self.flush()?;
        let TemporaryRun { files, file, start, end, .. } = *self;
        *files.idle.lock() = Some(Idle { file: file.clone(), end });
        Ok(Box::new(Written { file, start, end }))
    }
}

/// A run that is read, by any number of readers.
struct Written {
    file: Arc<Temporary>,
    start: u64,
    end: u64,
}

impl Spilled for Written {
    fn read(&self) -> Documents {
        let head = ReadHead { file: self.file.clone(), at: self.start, end: self.end };
        Box::new(Reader { file: BufReader::new(head) })
    }
}

/// A run read from a place of one's own.
struct ReadHead {
    file: Arc<Temporary>,
    at: u64,
    end: u64,
}

impl Read for ReadHead {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let most = into.len().min(left);
        let read = self.file.file.read_at(&mut into[..most], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

struct Reader {
    file: BufReader<ReadHead>,
}

impl Reader {
    fn read(&mut self) -> std::io::Result<Option<RawDocumentBuf>> {
        let mut length = [0; 4];
        match self.file.read_exact(&mut length) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            outcome => outcome?,
        }
        let size = u32::from_le_bytes(length) as usize;
        let mut bytes = length.to_vec();
        bytes.resize(size.max(4), 0);
        self.file.read_exact(&mut bytes[4..])?;
        RawDocumentBuf::from_bytes(bytes).map(Some).map_err(std::io::Error::other)
    }
}

impl Iterator for Reader {
    type Item = Result<RawDocumentBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().map_err(failed).transpose()
    }
}

fn failed(error: std::io::Error) -> Error {
    Code::OperationFailed.error(format!(
        "a temporary file could not be used: {error}; check the space in the \
         temporary directory"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn runs_share_a_file_and_come_back() {
        let files = TemporaryFiles::default();
        let document =
            |run: i32, at: i32| rawdoc! { "run": run, "at": at, "text": "x".repeat(999) };
        let mut written = Vec::new();
        for run in 0..5 {
            let mut spill = files.begin().unwrap();
            (0..200).for_each(|at| spill.push(&document(run, at)).unwrap());
            written.push(spill.finish().unwrap());
        }
        let sharers = |files: &TemporaryFiles| {
            files.idle.lock().as_ref().map(|idle| Arc::strong_count(&idle.file))
        };
        assert_eq!(sharers(&files), Some(1 + written.len()));
        // All at the same time, and again.
        for _ in 0..2 {
            let mut readers: Vec<_> = written.iter().map(|run| run.read()).collect();
            for at in 0..200 {
                for (run, reader) in readers.iter_mut().enumerate() {
                    assert_eq!(reader.next().unwrap().unwrap(), document(run as i32, at));
                }
            }
            assert!(readers.iter_mut().all(|reader| reader.next().is_none()));
        }
        // Two that are written at the same time do not meet.
        let (mut first, mut second) = (files.begin().unwrap(), files.begin().unwrap());
        first.push(&document(6, 0)).unwrap();
        second.push(&document(7, 0)).unwrap();
        let (first, second) = (first.finish().unwrap(), second.finish().unwrap());
        assert_eq!(first.read().next().unwrap().unwrap(), document(6, 0));
        assert_eq!(second.read().next().unwrap().unwrap(), document(7, 0));
    }
}
