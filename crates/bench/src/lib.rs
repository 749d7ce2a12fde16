//! The load generator behind `freeboard bench`: the official driver, many clients, and the
//! same workloads against a server of its own and against any other, in turns, so that what
//! the machine does meanwhile falls on all of them alike.
//!
//! A run is a list of targets ([`Target`]) and of workloads (the table in [`workloads`]).
//! For each workload the targets take turns in short rounds (`run::measure`); the figures of
//! all rounds are one [`Report`], printed as a table or as JSON.
//!
//! With [`Options::growth`] a run compares instead what growth policies cost: pairs of
//! workloads that differ in one thing (the table in [`growth`]), in turns on each target.

mod cost;
mod course;
mod data;
mod error;
pub mod growth;
mod lane;
mod median;
mod own;
pub mod pair;
mod report;
mod run;
mod settle;
mod site;
mod status;
mod target;
pub mod workloads;

pub use error::Error;
pub use report::{Comparison, Figures, Report, TargetReport};
pub use run::run;
pub use target::Target;

use std::path::PathBuf;

/// What to run, as the command line says it.
#[derive(Debug, Clone)]
pub struct Options {
    /// Servers beside the own one.
    pub uris: Vec<String>,
    /// Whether a server is started in this process.
    pub own: bool,
    /// How long each workload runs on each target.
    pub seconds: f64,
    pub clients: usize,
    /// How many documents the read workloads find.
    pub documents: u64,
    /// Names of workloads, or of pairs; empty means all.
    pub only: Vec<String>,
    /// Whether to compare what growth policies cost.
    pub growth: bool,
    /// How long the long arrays are that are pushed to.
    pub elements: u64,
    /// The binary whose `serve` is the own server where its CPU time is asked for; without
    /// it the server is in this process, and its CPU time is not told.
    pub program: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            uris: Vec::new(),
            own: true,
            seconds: 5.0,
            clients: 16,
            documents: 100_000,
            only: Vec::new(),
            growth: false,
            elements: 1_000_000,
            program: None,
        }
    }
}
