//! A collection and a file, as `export` and `import` name them.

use crate::format::Format;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Place {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    pub uri: String,
    /// The collection, as database.collection.
    #[arg(env = "FREEBOARD_NAMESPACE", value_name = "NAMESPACE")]
    pub namespace: String,
    /// The file: .ndjson, .json, .jsonl or .bson; - is standard input or output.
    #[arg(env = "FREEBOARD_FILE", value_name = "FILE")]
    pub file: PathBuf,
    /// The format, whatever the file is called.
    #[arg(long, env = "FREEBOARD_FORMAT", value_enum)]
    pub format: Option<Format>,
}
