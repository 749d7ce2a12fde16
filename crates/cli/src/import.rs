//! `freeboard import`: a file into a collection.

use crate::FAILURE;
use crate::out::note;
use crate::place::Place;
use crate::words::{self, counted};
use std::error::Error;
use std::process::ExitCode;

/// Read a file into a collection: NDJSON in extended JSON, or BSON.
///
/// Where a file beside it has the options and indexes of the collection, as an export makes
/// it, they are made too: beside orders.ndjson it is orders.metadata.json. What cannot be
/// imported is reported with its line (of BSON: the number of the document), and the rest is
/// imported; then the exit code is 2.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    place: Place,
    /// Drop the collection first, once all of the file can be read. Its options and indexes are
    /// made again, unless the file beside the documents has others.
    #[arg(long)]
    drop: bool,
    /// Set the growth policy that the file beside the documents has.
    #[arg(long, conflicts_with = "documents_only")]
    with_policy: bool,
    /// What becomes of a document whose _id is in the collection already. With `skip`
    /// an import that was interrupted goes on where it was.
    #[arg(long, env = "FREEBOARD_EXISTING", value_enum, default_value_t = Existing::Fail)]
    existing: Existing,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Existing {
    Fail,
    Skip,
}

impl From<Existing> for jobs::ExistingDocument {
    fn from(existing: Existing) -> jobs::ExistingDocument {
        match existing {
            Existing::Fail => jobs::ExistingDocument::Fail,
            Existing::Skip => jobs::ExistingDocument::Skip,
        }
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { place, drop, with_policy, existing } = arguments;
    let Place { uri, namespace, file, format, documents_only } = place;
    let format = jobs::Format::of(&file, format.map(jobs::Format::from))?;
    let import = jobs::Import {
        uri: &uri,
        namespace: &namespace,
        file: &file,
        format: Some(format),
        drop,
        documents_only,
        with_policy,
        existing: existing.into(),
    };
    let imported = jobs::run(import.run())?;
    if imported.dropped_unchecked {
        note(format_args!(
            "{namespace}: dropped when only the first document of {} had been looked at, since it \
             can be read only once",
            file.display()
        ));
    }
    tell_indexes(&namespace, &imported);
    match imported.policy {
        jobs::FilePolicy::Set => note(format_args!("{namespace}: growth policy set")),
        jobs::FilePolicy::Left => note(format_args!(
            "{namespace}: the growth policy beside the file was not set; --with-policy sets it"
        )),
        jobs::FilePolicy::None => {}
    }
    for failure in &imported.failures {
        note(format_args!("freeboard: {} {failure}", format.unit()));
    }
    let untold = imported.failed - imported.failures.len() as u64;
    if untold > 0 {
        note(format_args!("freeboard: {untold} more failed"));
    }
    let skipped = match imported.skipped {
        0 => String::new(),
        skipped => format!(", {}", counted(skipped, "was there already", "were there already")),
    };
    note(format_args!(
        "{} imported into {namespace}{skipped}, {} failed",
        words::documents(imported.documents),
        imported.failed
    ));
    if imported.interrupted {
        note("freeboard: interrupted; run it again with --existing skip to go on");
    }
    let whole = imported.failed == 0 && imported.made.failed.is_empty();
    let done = whole && !imported.interrupted;
    Ok(if done { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

/// What has become of indexes.
fn tell_indexes(namespace: &str, imported: &jobs::Imported) {
    if !imported.dropped_indexes.is_empty() {
        let names = imported.dropped_indexes.join(", ");
        note(format_args!("{namespace}: indexes dropped, which the file has not: {names}"));
    }
    if !imported.made.indexes.is_empty() {
        let names = imported.made.indexes.join(", ");
        note(format_args!("{namespace}: indexes made: {names}"));
    }
    for (name, why) in &imported.made.failed {
        note(format_args!("freeboard: {namespace}: the index {name} was not made: {why}"));
    }
}
