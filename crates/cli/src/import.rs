//! `freeboard import`: a file into a collection.

use crate::FAILURE;
use crate::format::Format;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Read a file into a collection: NDJSON in extended JSON, or BSON.
///
/// What cannot be imported is told with its line (of BSON: the number of the document),
/// and the rest is imported; then the exit code is 2.
#[derive(clap::Args)]
pub struct Arguments {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    uri: String,
    /// The collection, as database.collection.
    #[arg(env = "FREEBOARD_NAMESPACE", value_name = "NAMESPACE")]
    namespace: String,
    /// The file: .ndjson, .json, .jsonl or .bson; - is standard input.
    #[arg(env = "FREEBOARD_FILE", value_name = "FILE")]
    file: PathBuf,
    /// The format, whatever the file is called.
    #[arg(long, env = "FREEBOARD_FORMAT", value_enum)]
    format: Option<Format>,
    /// Drop the collection first.
    #[arg(long, env = "FREEBOARD_DROP")]
    drop: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { uri, namespace, file, format, drop } = arguments;
    let format = jobs::Format::of(&file, format.map(jobs::Format::from))?;
    let import =
        jobs::Import { uri: &uri, namespace: &namespace, file: &file, format: Some(format), drop };
    let imported = jobs::run(import.run())?;
    for failure in &imported.failures {
        eprintln!("freeboard: {} {failure}", format.unit());
    }
    let untold = imported.failed - imported.failures.len() as u64;
    if untold > 0 {
        eprintln!("freeboard: {untold} more failed");
    }
    eprintln!(
        "{} documents imported into {namespace}, {} failed",
        imported.documents, imported.failed
    );
    Ok(if imported.failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}
