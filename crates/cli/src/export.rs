//! `freeboard export`: a collection to a file.

use crate::format::Format;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a collection to a file: NDJSON in canonical extended JSON, or BSON.
///
/// The file appears when all of it is written.
#[derive(clap::Args)]
pub struct Arguments {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    uri: String,
    /// The collection, as database.collection.
    #[arg(env = "FREEBOARD_NAMESPACE", value_name = "NAMESPACE")]
    namespace: String,
    /// The file: .ndjson, .json, .jsonl or .bson; - is standard output.
    #[arg(env = "FREEBOARD_FILE", value_name = "FILE")]
    file: PathBuf,
    /// The format, whatever the file is called.
    #[arg(long, env = "FREEBOARD_FORMAT", value_enum)]
    format: Option<Format>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { uri, namespace, file, format } = arguments;
    let format = format.map(jobs::Format::from);
    let export = jobs::Export { uri: &uri, namespace: &namespace, file: &file, format };
    let exported = jobs::run(export.run())?;
    eprintln!("{} documents of {namespace} exported", exported.documents);
    Ok(ExitCode::SUCCESS)
}
