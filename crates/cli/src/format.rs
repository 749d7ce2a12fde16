//! `--format` of export and import.

use clap::ValueEnum;

#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    /// A document a line, in canonical extended JSON.
    Ndjson,
    /// Documents one after the other, as the server keeps them.
    Bson,
}

impl From<Format> for jobs::Format {
    fn from(format: Format) -> jobs::Format {
        match format {
            Format::Ndjson => jobs::Format::Ndjson,
            Format::Bson => jobs::Format::Bson,
        }
    }
}
