//! Documents that do not fit in memory, in a temporary file.

use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use language::aggregate::{Documents, Spill, Spilled};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A file without a name: it goes when it is closed, however that comes about.
pub struct TemporaryRun {
    file: BufWriter<File>,
}

impl TemporaryRun {
    pub fn new() -> Result<TemporaryRun> {
        let file = tempfile::tempfile().map_err(failed)?;
        Ok(TemporaryRun { file: BufWriter::new(file) })
    }
}

impl Spill for TemporaryRun {
    fn push(&mut self, document: &RawDocument) -> Result<()> {
        self.file.write_all(document.as_bytes()).map_err(failed)
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn Spilled>> {
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok(Box::new(Written(Arc::new(file))))
    }
}

/// A file that is read, by any number of readers.
struct Written(Arc<File>);

impl Spilled for Written {
    fn read(&self) -> Documents {
        let head = ReadHead { file: self.0.clone(), at: 0 };
        Box::new(Reader { file: BufReader::new(head) })
    }
}

/// A file read from a place of one's own.
struct ReadHead {
    file: Arc<File>,
    at: u64,
}

impl Read for ReadHead {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
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
