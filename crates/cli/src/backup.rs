//! `freeboard backup`: a copy of the whole store while the server runs.

use crate::out::note;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Copy the whole store into a directory while the server runs.
///
/// The server writes the copy, so the directory is one of its machine, which must be empty
/// or not there yet. `freeboard serve --data DIR` opens it.
#[derive(clap::Args)]
pub struct Arguments {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    uri: String,
    /// The directory of the copy.
    #[arg(env = "FREEBOARD_DIRECTORY", value_name = "DIR")]
    directory: PathBuf,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { uri, directory } = arguments;
    let copied = jobs::run(jobs::Backup { uri: &uri, directory: &directory }.run())?;
    note(format_args!("{} bytes copied into {}", copied.bytes, directory.display()));
    Ok(ExitCode::SUCCESS)
}
