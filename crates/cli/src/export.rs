//! `freeboard export`: a collection to a file.

use crate::out::note;
use crate::place::Place;
use std::error::Error;
use std::process::ExitCode;

/// Write a collection to a file: NDJSON in canonical extended JSON, or BSON.
///
/// The collection's options and indexes go to a second file beside it: that of orders.ndjson
/// is orders.metadata.json. Files appear when all of it is written.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    place: Place,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Place { uri, namespace, file, format, documents_only } = arguments.place;
    let format = format.map(jobs::Format::from);
    let export =
        jobs::Export { uri: &uri, namespace: &namespace, file: &file, format, documents_only };
    let jobs::Exported { documents, indexes } = jobs::run(export.run())?;
    match (indexes, jobs::metadata_path(&file)) {
        (Some(indexes), Some(beside)) => note(format_args!(
            "{documents} documents of {namespace} exported; its options and {indexes} indexes \
             are in {}",
            beside.display()
        )),
        _ => note(format_args!("{documents} documents of {namespace} exported")),
    }
    Ok(ExitCode::SUCCESS)
}
