//! How documents stand in a file.

use crate::Error;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A document a line, in canonical extended JSON.
    Ndjson,
    /// Documents one after the other, as the server keeps them.
    Bson,
}

impl Format {
    /// The format that was asked for, or else the one that a file's name ends with.
    pub fn of(path: &Path, asked: Option<Format>) -> Result<Format, Error> {
        if let Some(format) = asked {
            return Ok(format);
        }
        match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("ndjson" | "json" | "jsonl") => Ok(Format::Ndjson),
            Some("bson") => Ok(Format::Bson),
            _ => Err(Error::Use(format!(
                "the format cannot be seen from the name {}: end it with .ndjson or .bson, or give \
                 --format",
                path.display()
            ))),
        }
    }

    /// What counts the documents of a file.
    pub fn unit(self) -> &'static str {
        match self {
            Format::Ndjson => "line",
            Format::Bson => "document",
        }
    }
}

/// `-` is standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}
