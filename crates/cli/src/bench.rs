//! `freeboard bench`: the load generator.

use std::error::Error;
use std::process::ExitCode;

use clap::ValueEnum;

use crate::FAILURE;
use crate::boolean::boolean;
use crate::out::{Out, note};

/// Measure servers under load.
///
/// Starts a server in this process and runs every workload on it and on each --uri, in turns.
/// On each it fills the database freeboard_bench and drops it at the end.
#[derive(clap::Args)]
pub struct Arguments {
    /// Another server to measure; may be given several times.
    #[arg(long, env = "FREEBOARD_BENCH_URI", value_name = "URI", value_delimiter = ' ')]
    uri: Vec<String>,
    /// Start no server in this process; measure only those of --uri.
    #[arg(long, env = "FREEBOARD_BENCH_NO_OWN", value_parser = boolean(), requires = "uri")]
    no_own: bool,
    /// How long each workload runs on each server.
    #[arg(long, env = "FREEBOARD_BENCH_SECONDS", default_value_t = 4.0, value_parser = seconds)]
    seconds: f64,
    /// How many clients work at once.
    #[arg(long, env = "FREEBOARD_BENCH_CLIENTS", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    clients: u32,
    /// How many documents the collections have that are read.
    #[arg(long, env = "FREEBOARD_BENCH_DOCUMENTS", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    documents: u64,
    /// Compare what growth policies cost, in pairs of workloads that take turns. The own
    /// server then is a process of its own, so that its CPU time can be told.
    #[arg(long, env = "FREEBOARD_BENCH_GROWTH", value_parser = boolean())]
    growth: bool,
    /// How many elements the long arrays have that are pushed to.
    #[arg(long, env = "FREEBOARD_BENCH_ELEMENTS", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    elements: u64,
    /// Only these workloads, or with --growth these pairs.
    #[arg(long, env = "FREEBOARD_BENCH_ONLY", value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// The form of the report.
    #[arg(long, env = "FREEBOARD_BENCH_FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("a number of seconds above 0 is wanted".to_owned()),
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let options = bench::Options {
        uris: arguments.uri,
        own: !arguments.no_own,
        seconds: arguments.seconds,
        clients: arguments.clients as usize,
        documents: arguments.documents,
        only: arguments.only,
        growth: arguments.growth,
        elements: arguments.elements,
        program: std::env::current_exe().ok(),
    };
    let report = bench::run(&options)?;
    let mut out = Out::default();
    match arguments.format {
        Format::Text => out.text(report.text()),
        Format::Json => {
            out.line(report.json()?);
            for (workload, target, why) in &report.failures {
                note(format_args!("freeboard: {workload} on {target} failed: {why}"));
            }
        }
    }
    out.end()?;
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}
