//! `freeboard demo`: made-up data for trying things out.

use crate::boolean::boolean;
use crate::out::{Out, note};
use crate::words;
use ::demo::{NOW_DEFAULT, Recipe, SCENARIOS, SEED_DEFAULT, SIZE_DEFAULT, SIZE_MAX, SIZE_MIN};
use ::demo::{Scenario, scenario};
use bson::DateTime;
use jobs::{Demo, Existing, Loaded};
use std::error::Error;
use std::process::ExitCode;

/// Made-up data with the faults that real data has.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the scenarios.
    List,
    Load(Load),
}

/// Load scenarios into a server.
///
/// The same seed, size and date give the same documents, to the byte.
#[derive(clap::Args)]
#[command(after_help = scenarios())]
struct Load {
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI")]
    uri: String,
    /// Only these scenarios.
    #[arg(long, env = "FREEBOARD_SCENARIO", value_name = "NAME,…", value_delimiter = ',', value_parser = known)]
    scenario: Vec<Known>,
    /// How many documents each scenario has.
    #[arg(long, env = "FREEBOARD_SIZE", default_value_t = SIZE_DEFAULT, value_parser = clap::value_parser!(u64).range(SIZE_MIN..=SIZE_MAX))]
    size: u64,
    /// Another seed gives other documents.
    #[arg(long, env = "FREEBOARD_SEED", default_value_t = SEED_DEFAULT)]
    seed: u64,
    /// The date that the data ends at [default: 2026-04-15T10:00:00Z].
    #[arg(long, env = "FREEBOARD_NOW", value_name = "DATE", value_parser = date)]
    now: Option<DateTime>,
    /// The database that the data goes into.
    #[arg(long, env = "FREEBOARD_DEMO_DB", value_name = "NAME", default_value = "demo")]
    db: String,
    /// Drop the collections first that will be filled.
    #[arg(long, conflicts_with = "resume")]
    drop: bool,
    /// Go on with a load that was interrupted.
    #[arg(long)]
    resume: bool,
    /// Then ask what the scenarios' applications ask, with the profiler on: the auditor reads it.
    #[arg(long, env = "FREEBOARD_QUERIES", value_parser = boolean())]
    queries: bool,
}

/// A scenario that there is.
#[derive(Clone, Copy)]
struct Known(&'static Scenario);

fn known(name: &str) -> Result<Known, String> {
    let names: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
    let found = scenario(name).map(Known);
    found.ok_or_else(|| format!("there is no such scenario; there are {}", names.join(", ")))
}

/// A date with or without the time of day.
fn date(text: &str) -> Result<DateTime, String> {
    let midnight = format!("{text}T00:00:00Z");
    DateTime::parse_rfc3339_str(text)
        .or_else(|_| DateTime::parse_rfc3339_str(midnight))
        .map_err(|_| "give a date as 2026-04-15 or 2026-04-15T10:00:00Z".to_owned())
}

/// The scenarios, a line each.
fn scenarios() -> String {
    let lines = SCENARIOS.iter().map(|row| format!("  {:9} {}\n", row.name, row.help));
    format!("Scenarios:\n{}", lines.collect::<String>())
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    match arguments.command {
        Command::List => {
            let mut out = Out::default();
            out.text(scenarios());
            out.end()?;
        }
        Command::Load(load) => load.run()?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Load {
    fn run(&self) -> Result<(), Box<dyn Error>> {
        let wanted = |row: &&Scenario| {
            self.scenario.is_empty() || self.scenario.iter().any(|known| known.0.name == row.name)
        };
        let demo = Demo {
            uri: &self.uri,
            database: &self.db,
            scenarios: SCENARIOS.iter().filter(wanted).collect(),
            recipe: Recipe {
                seed: self.seed,
                size: self.size,
                now: self.now.unwrap_or(NOW_DEFAULT),
            },
            existing: match (self.drop, self.resume) {
                (true, _) => Existing::Drop,
                (_, true) => Existing::Resume,
                _ => Existing::Refuse,
            },
            queries: self.queries,
        };
        match jobs::run(demo.run()) {
            Ok(loaded) => {
                tell(&loaded, &self.db);
                Ok(())
            }
            Err(jobs::Error::Interrupted) => {
                Err("interrupted; the same command with --resume goes on".into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn tell(loaded: &Loaded, database: &str) {
    if let Some((_, why)) = loaded.unsharded.first() {
        let names: Vec<&str> = loaded.unsharded.iter().map(|(name, _)| name.as_str()).collect();
        note(format_args!("not sharded: {} ({why})", names.join(", ")));
    }
    if let Some(why) = &loaded.unprofiled {
        note(format_args!("not profiled: {why}"));
    }
    let Loaded { collections, documents, bytes, .. } = loaded;
    let megabytes = *bytes as f64 / (1024.0 * 1024.0);
    let collections = words::counted(*collections, "collection", "collections");
    note(format_args!(
        "{} ({megabytes:.1} MB) in {collections} of {database}",
        words::documents(*documents)
    ));
    if loaded.queries > 0 {
        note(format_args!("{} run", words::counted(loaded.queries, "query", "queries")));
    }
}
