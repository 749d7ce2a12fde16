//! Documents read from a file, one by one.

use crate::record::Record;
use crate::{DOCUMENT_BYTES_MAX, Error, Format, extjson, format};
use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use value::check;

const BUFFER_BYTES: usize = 1024 * 1024;
/// A line that is longer holds no document that could be stored.
const LINE_BYTES_MAX: usize = 16 * DOCUMENT_BYTES_MAX;

pub struct Source {
    reader: Box<dyn BufRead + Send>,
    format: Format,
    /// The line or document that was read last, from 1.
    number: u64,
    line: Vec<u8>,
    /// What was looked at before its turn.
    first: Option<Item>,
}

/// What was read.
pub struct Item {
    pub number: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// What stands there, or what is wrong with it.
    pub record: Result<Record, String>,
}

impl Source {
    /// Opens a file, and says how large it is; `None` where it can be read only once: standard
    /// input, a pipe.
    pub fn open(path: &Path, format: Format) -> Result<(Source, Option<u64>), Error> {
        let (reader, size): (Box<dyn BufRead + Send>, _) = if format::is_standard(path) {
            (Box::new(BufReader::with_capacity(BUFFER_BYTES, std::io::stdin())), None)
        } else {
            let file = File::open(path).map_err(|error| Error::File(path.to_owned(), error))?;
            let metadata = file.metadata().ok().filter(Metadata::is_file);
            let size = metadata.map(|metadata| metadata.len());
            (Box::new(BufReader::with_capacity(BUFFER_BYTES, file)), size)
        };
        Ok((Source { reader, format, number: 0, line: Vec::new(), first: None }, size))
    }

    /// Looks at what stands first. A file that does not begin with a document is something
    /// else than it is taken for.
    pub fn check_first(&mut self) -> Result<(), Error> {
        self.first = self.next()?;
        let Some(Item { number, record: Err(why), .. }) = &self.first else { return Ok(()) };
        let unit = self.format.unit();
        let hint = self.hint();
        Err(Error::Input(format!(
            "{unit} {number}, the first of the file, is no document ({why}), so nothing was \
             changed{hint}"
        )))
    }

    /// What the file may be instead.
    fn hint(&self) -> &'static str {
        let first = self.line.iter().find(|byte| !byte.is_ascii_whitespace());
        match (self.format, first) {
            (Format::Ndjson, Some(b'[')) => {
                "; this looks like a JSON array, and what is read is a document a line: turn it \
                 into that with jq -c '.[]'"
            }
            (Format::Ndjson, Some(b'{')) => {
                "; a document must stand on one line: turn a file into that with jq -c ."
            }
            _ => "",
        }
    }

    /// The next document; an error where nothing behind it can be read either.
    pub fn next(&mut self) -> Result<Option<Item>, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        match self.format {
            Format::Ndjson => self.next_line(),
            Format::Bson => self.next_bson(),
        }
    }

    fn next_line(&mut self) -> Result<Option<Item>, Error> {
        loop {
            self.line.clear();
            let mut limited = self.reader.by_ref().take(LINE_BYTES_MAX as u64);
            let bytes = limited.read_until(b'\n', &mut self.line)?;
            if bytes == 0 {
                return Ok(None);
            }
            self.number += 1;
            if bytes == LINE_BYTES_MAX && self.line.last() != Some(&b'\n') {
                return Err(Error::Input(format!(
                    "line {} is longer than {LINE_BYTES_MAX} bytes; nothing behind it was read",
                    self.number
                )));
            }
            if self.line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let record = match std::str::from_utf8(&self.line) {
                Ok(text) => extjson::read(text).and_then(Record::read),
                Err(_) => Err("this is not UTF-8".to_owned()),
            };
            return Ok(Some(Item { number: self.number, bytes: bytes as u64, record }));
        }
    }

    fn next_bson(&mut self) -> Result<Option<Item>, Error> {
        if self.reader.fill_buf()?.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let cut_off = |what: &str| {
            Error::Input(format!("document {} {what}; nothing behind it was read", self.number))
        };
        let mut length = [0; 4];
        self.reader.read_exact(&mut length).map_err(|_| cut_off("is cut off"))?;
        let size = usize::try_from(i32::from_le_bytes(length)).unwrap_or(0);
        if !(5..=LINE_BYTES_MAX).contains(&size) {
            return Err(cut_off("does not begin with the length of a document"));
        }
        let mut bytes = vec![0; size];
        bytes[..4].copy_from_slice(&length);
        self.reader.read_exact(&mut bytes[4..]).map_err(|_| cut_off("is cut off"))?;
        let document = check::document(&bytes, check::DEPTH_MAX).map(ToOwned::to_owned);
        let document = document.map_err(|error| error.message().to_owned());
        let record = document.and_then(Record::read);
        Ok(Some(Item { number: self.number, bytes: size as u64, record }))
    }
}
