//! What a run found, as figures and as text.

mod table;

use serde::Serialize;

use crate::pair::Pair;
use crate::workloads::Workload;
use crate::{Error, Options, Target};

/// Serialises to `{"targets": [{"name", "uri", "workloads": […], "pairs": […]}]}`; the
/// pairs are there where some were compared.
#[derive(Debug, Serialize)]
pub struct Report {
    pub targets: Vec<TargetReport>,
    #[serde(skip)]
    conditions: Conditions,
    /// Workloads that did not get through: workload, target, why.
    #[serde(skip)]
    pub failures: Vec<(&'static str, String, String)>,
}

#[derive(Debug, Serialize)]
pub struct TargetReport {
    pub name: String,
    pub uri: String,
    pub workloads: Vec<Figures>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Comparison>,
}

#[derive(Debug, Serialize)]
pub struct Figures {
    pub name: &'static str,
    pub ops_per_s: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    /// How many writes shared an fsync, where the server tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes_per_fsync: Option<f64>,
    /// What an operation adds to the journal before compression, where the server tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_bytes_per_op: Option<f64>,
    /// The server's CPU time for an operation, where it can be told from the clients'.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_us_per_op: Option<f64>,
    /// The rate as a part of that of pings in the same moments, where both were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_ping: Option<f64>,
}

/// Two workloads side by side.
#[derive(Debug, Serialize)]
pub struct Comparison {
    pub name: &'static str,
    /// What was compared, with its unit.
    pub measure: &'static str,
    pub base: &'static str,
    pub other: &'static str,
    pub base_value: f64,
    pub other_value: f64,
    /// The other, in terms of the base.
    pub ratio: f64,
    /// How far off the ratio may be, where it is a median over many turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    pub bound: String,
    pub holds: bool,
}

#[derive(Debug)]
struct Conditions {
    seconds: f64,
    clients: usize,
    documents: u64,
}

impl Report {
    pub(crate) fn new(options: &Options, targets: &[Target]) -> Report {
        let targets = targets
            .iter()
            .map(|target| TargetReport {
                name: target.name.clone(),
                uri: target.uri.clone(),
                workloads: Vec::new(),
                pairs: Vec::new(),
            })
            .collect();
        let conditions = Conditions {
            seconds: options.seconds,
            clients: options.clients,
            documents: options.documents,
        };
        Report { targets, conditions, failures: Vec::new() }
    }

    /// Takes what `workload` found, one outcome a target.
    pub(crate) fn add(&mut self, workload: &Workload, outcomes: Vec<Result<Figures, Error>>) {
        for (target, outcome) in self.targets.iter_mut().zip(outcomes) {
            match outcome {
                Ok(figures) => target.workloads.push(figures),
                Err(error) => {
                    self.failures.push((workload.name, target.name.clone(), error.to_string()));
                }
            }
        }
    }

    /// Takes what a pair showed on a target, and the figures of its two sides. A workload
    /// that has been part of an earlier pair keeps the figures it had there.
    pub(crate) fn add_pair(
        &mut self,
        target: usize,
        pair: &Pair,
        outcome: Result<(Comparison, [Figures; 2]), Error>,
    ) {
        let Some(target) = self.targets.get_mut(target) else { return };
        match outcome {
            Ok((comparison, sides)) => {
                for side in sides {
                    if target.workload(side.name).is_none() {
                        target.workloads.push(side);
                    }
                }
                target.pairs.push(comparison);
            }
            Err(error) => self.failures.push((pair.name, target.name.clone(), error.to_string())),
        }
    }

    pub fn json(&self) -> Result<String, Error> {
        serde_json::to_string_pretty(self).map_err(|error| Error::Io(error.into()))
    }

    /// The table for people.
    pub fn text(&self) -> String {
        table::render(self)
    }
}

impl TargetReport {
    fn workload(&self, name: &str) -> Option<&Figures> {
        self.workloads.iter().find(|figures| figures.name == name)
    }
}
