//! A collection and a file, as `export` and `import` name them.

use crate::boolean::boolean;
use crate::format::Format;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Place {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    pub uri: String,
    /// The collection, as database.collection.
    #[arg(value_name = "NAMESPACE")]
    pub namespace: String,
    /// The file: .ndjson, .json, .jsonl or .bson; - is standard input or output.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The format, whatever the file is called.
    #[arg(long, env = "FREEBOARD_FILE_FORMAT", value_enum)]
    pub format: Option<Format>,
    /// Documents alone, without the file beside theirs that has the collection's options,
    /// indexes and growth policy.
    #[arg(long, env = "FREEBOARD_DOCUMENTS_ONLY", value_parser = boolean())]
    pub documents_only: bool,
}
