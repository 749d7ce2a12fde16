//! `freeboard export`: a collection to a file.

use crate::out::note;
use crate::place::Place;
use crate::words::{self, counted};
use std::error::Error;
use std::process::ExitCode;

/// Write a collection to a file: NDJSON in canonical extended JSON, or BSON.
///
/// The collection's options, indexes and growth policy go to a second file beside it: that of
/// orders.ndjson is orders.metadata.json. Files appear when all of it is written. A document over
/// 16 MB with its arrays is written in parts, which an import puts together again.
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
    let jobs::Exported { documents, partial, indexes, warnings } = jobs::run(export.run())?;
    let documents = words::documents(documents);
    match (indexes, jobs::metadata_path(&file)) {
        (Some(indexes), Some(beside)) => note(format_args!(
            "{documents} of {namespace} exported; its options and {} are in {}",
            counted(indexes as u64, "index", "indexes"),
            beside.display()
        )),
        _ => note(format_args!("{documents} of {namespace} exported")),
    }
    warnings.iter().for_each(|warning| note(format_args!("freeboard: {warning}")));
    if partial > 0 {
        note(format_args!(
            "in parts, which 'freeboard import' puts together: {partial} that would pass 16 MB with \
             all elements"
        ));
    }
    Ok(ExitCode::SUCCESS)
}
