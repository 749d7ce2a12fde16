//! Documents written to a file in a format.

use crate::output::Output;
use crate::{Error, Format, extjson};
use bson::RawDocument;
use std::path::Path;

pub struct Sink {
    output: Output,
    format: Format,
    line: Vec<u8>,
}

impl Sink {
    pub fn create(path: &Path, format: Format) -> Result<Sink, Error> {
        Ok(Sink { output: Output::create(path)?, format, line: Vec::new() })
    }

    pub fn write(&mut self, document: &RawDocument) -> Result<(), Error> {
        match self.format {
            Format::Bson => self.output.write(document.as_bytes()),
            Format::Ndjson => {
                self.line.clear();
                extjson::write(document, &mut self.line);
                self.line.push(b'\n');
                self.output.write(&self.line)
            }
        }
    }

    pub fn finish(self) -> Result<(), Error> {
        self.output.finish()
    }
}
