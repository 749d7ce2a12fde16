//! `freeboard export`: a collection to a file.

use crate::out::note;
use crate::place::Place;
use std::error::Error;
use std::process::ExitCode;

/// Write a collection to a file: NDJSON in canonical extended JSON, or BSON.
///
/// The file appears when all of it is written.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    place: Place,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Place { uri, namespace, file, format } = arguments.place;
    let format = format.map(jobs::Format::from);
    let export = jobs::Export { uri: &uri, namespace: &namespace, file: &file, format };
    let exported = jobs::run(export.run())?;
    note(format_args!("{} documents of {namespace} exported", exported.documents));
    Ok(ExitCode::SUCCESS)
}
