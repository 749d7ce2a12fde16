//! `freeboard inspect`: what a store holds.

use crate::boolean::boolean;
use crate::out::is_closed;
use engine::inspect::{Options, inspect};
use std::error::Error;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Print what a store holds: catalog, counts, keys. No server may have it open.
#[derive(clap::Args)]
pub struct Arguments {
    /// Directory of the data.
    #[arg(env = "FREEBOARD_DATA", value_name = "DIR", default_value = "./freeboard-data")]
    data: PathBuf,
    /// Only this collection, as database.collection.
    #[arg(long, env = "FREEBOARD_NAMESPACE", value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Also list keys and values.
    #[arg(long, env = "FREEBOARD_KEYS", value_parser = boolean())]
    keys: bool,
    /// At most so many keys of each collection and index.
    #[arg(long, env = "FREEBOARD_LIMIT", value_name = "N", default_value_t = 100)]
    limit: usize,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { data, namespace, keys, limit } = arguments;
    let mut out = BufWriter::new(std::io::stdout().lock());
    match inspect(&data, &Options { keys, namespace, limit }, &mut out)
        .and_then(|()| Ok(out.flush()?))
    {
        // Whoever reads has seen enough.
        Err(error) if is_closed(&*error) => Ok(ExitCode::SUCCESS),
        outcome => outcome.map(|()| ExitCode::SUCCESS),
    }
}
