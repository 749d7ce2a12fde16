//! `freeboard backup`: a copy of the whole store while the server runs.

use crate::out::note;
use std::error::Error;
use std::process::ExitCode;

/// Copy the whole store into a directory while the server runs.
///
/// The server writes the copy, so the directory is one of its machine: a name below the
/// directory that it was started with (`freeboard serve --backups`), or an absolute path that
/// lies there. It must be empty or not there yet. `freeboard serve --data` opens the copy.
#[derive(clap::Args)]
pub struct Arguments {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    uri: String,
    /// The directory of the copy.
    #[arg(env = "FREEBOARD_DIRECTORY", value_name = "DIR")]
    directory: String,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { uri, directory } = arguments;
    let copied = jobs::run(jobs::Backup { uri: &uri, directory: &directory }.run())?;
    note(format_args!("{} bytes copied into {}", copied.bytes, copied.directory));
    Ok(ExitCode::SUCCESS)
}
