//! What a run found, as figures and as text.

mod table;

use serde::Serialize;

use crate::workloads::Workload;
use crate::{Error, Options, Target};

/// Serialises to `{"targets": [{"name", "uri", "workloads": […]}]}`.
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
