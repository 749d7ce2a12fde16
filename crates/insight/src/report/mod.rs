//! What an audit found: the model, and its forms for people and programs.
//!
//! The model is the JSON report, field by field; `docs/audit.md` describes it. A change
//! that a reader of the old form would misread raises [`VERSION`].

mod diff;
mod finding;
mod html;
mod looked_at;
mod policies;
mod shell;
mod shown;
mod text;
mod yaml;

pub use diff::{Change, Diff, Growth, What};
pub use finding::{Also, Cure, Evidence, Finding, Remedy, Severity};
pub use looked_at::{Extent, LookedAt};
pub use policies::PolicyFile;
pub(crate) use policies::merge;
pub(crate) use shell::{member, name, shell};
pub(crate) use shown::shown;

use crate::Error;
use serde::{Deserialize, Serialize};

/// The version of the report's form.
pub const VERSION: u32 = 1;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    pub version: u32,
    /// How much of what was asked for was looked at.
    #[serde(default)]
    pub looked_at: LookedAt,
    pub target: Target,
    pub scanned: Scanned,
    pub checklist: Vec<Item>,
    /// The gravest first, and of those what breaks first.
    pub findings: Vec<Finding>,
}

/// What was looked at.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Target {
    /// `mongodb`, `azure-documentdb` or `freeboard`: whose limits hold.
    pub kind: String,
    /// Host and port, without user and password.
    pub address: String,
    pub version: String,
    /// The one database that was asked for; `None`: all of them.
    pub database: Option<String>,
}

/// How much of it was looked at, and how.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Scanned {
    /// RFC 3339.
    pub started: String,
    pub seconds: f64,
    /// `full` where every document was read, else `sample`.
    pub mode: String,
    /// Whether everything asked for was looked at: nothing was refused, it was not
    /// interrupted, and there was time for all.
    pub complete: bool,
    pub documents: u64,
    pub bytes: u64,
    pub collections: Vec<Collection>,
    /// What could not be looked at, or only in part, and why.
    pub notes: Vec<Note>,
}

/// One collection as it was found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Collection {
    pub namespace: String,
    /// `collection`, `capped`, `timeseries`, `view` or `pages`.
    pub kind: String,
    /// How many documents it has, as far as the server knows.
    pub documents: Option<u64>,
    /// How many were looked at.
    pub scanned: u64,
    /// Whether these are all of them.
    #[serde(default)]
    pub whole: bool,
    pub indexes: usize,
    /// Sizes of documents in bytes.
    pub sizes: Option<Spread>,
    /// The longest arrays by path.
    pub arrays: Vec<Array>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Array {
    pub path: String,
    pub lengths: Spread,
}

/// A distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub count: u64,
    pub min: u64,
    pub mean: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub max: u64,
    /// How many are at most `to` and more than the bar before; bars double in width.
    pub histogram: Vec<Bar>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bar {
    pub to: u64,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    pub note: String,
    /// Whether it was asked for, and could not be looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missed: bool,
}

/// A line of the checklist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub item: String,
    pub status: Status,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    #[serde(rename = "pass")]
    Pass,
    #[serde(rename = "fail")]
    Fail,
    #[serde(rename = "not known")]
    NotKnown,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text {
        /// With colours, for a terminal.
        colour: bool,
    },
    Json,
    Html,
}

impl Report {
    pub fn render(&self, format: Format) -> Result<String, Error> {
        match format {
            Format::Text { colour } => Ok(text::render(self, colour)),
            Format::Json => {
                let json = serde_json::to_string_pretty(self);
                json.map(|json| json + "\n").map_err(|error| Error::Use(error.to_string()))
            }
            Format::Html => html::render(self),
        }
    }

    /// Whether something at least this severe was found.
    pub fn reaches(&self, severity: Severity) -> bool {
        self.findings.iter().any(|finding| finding.severity >= severity)
    }
}

#[cfg(test)]
mod tests;
