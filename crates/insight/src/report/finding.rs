//! One finding: what is wrong where, what proves it, what cures it.

use command::Namespace;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The row of the table of detectors.
    pub detector: String,
    pub severity: Severity,
    /// `database.collection`; a family of collections has `{…}` for what differs.
    pub namespace: String,
    /// The field, or the index by name.
    pub path: Option<String>,
    /// One sentence.
    pub summary: String,
    pub evidence: Evidence,
    pub cure: Cure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warn,
    Critical,
}

/// What proves a finding, so that anyone can look for himself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The `_id`s of documents, in relaxed extended JSON.
    pub ids: Vec<Value>,
    /// Literal values and names of keys, collections or indexes.
    pub examples: Vec<Value>,
    pub figures: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cure {
    /// The design pattern that cures it.
    pub pattern: String,
    #[serde(flatten)]
    pub remedy: Remedy,
}

/// What to run: one of three kinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remedy {
    /// A file for `freeboard apply`.
    Policy(Value),
    /// A validator for `collMod`.
    Validator(Value),
    /// A line for mongosh.
    Command(String),
}

impl Finding {
    /// A finding of a detector, which its row of the table names.
    pub fn new(severity: Severity, namespace: &Namespace, summary: String, cure: Cure) -> Finding {
        Finding {
            detector: String::new(),
            severity,
            namespace: namespace.to_string(),
            path: None,
            summary,
            evidence: Evidence::default(),
            cure,
        }
    }

    pub fn path(mut self, path: impl Into<String>) -> Finding {
        self.path = Some(path.into());
        self
    }

    pub fn path_if(mut self, path: Option<String>) -> Finding {
        self.path = path;
        self
    }

    pub fn ids(mut self, ids: impl IntoIterator<Item = Value>) -> Finding {
        self.evidence.ids.extend(ids);
        self
    }

    pub fn examples<T: Into<Value>>(mut self, examples: impl IntoIterator<Item = T>) -> Finding {
        self.evidence.examples.extend(examples.into_iter().map(Into::into));
        self
    }

    pub fn figure(mut self, name: &str, value: impl Into<Value>) -> Finding {
        self.evidence.figures.insert(name.to_owned(), value.into());
        self
    }
}

impl Cure {
    /// A policy of one collection, as a file that `freeboard apply` takes.
    pub fn policy(pattern: &str, namespace: &Namespace, policy: Value) -> Cure {
        let mut collections = Map::new();
        collections.insert(namespace.collection.to_string(), policy);
        let file =
            json!({ "version": 1, "database": &*namespace.database, "collections": collections });
        Cure { pattern: pattern.to_owned(), remedy: Remedy::Policy(file) }
    }

    pub fn validator(pattern: &str, validator: Value) -> Cure {
        Cure { pattern: pattern.to_owned(), remedy: Remedy::Validator(validator) }
    }

    pub fn command(pattern: &str, command: String) -> Cure {
        Cure { pattern: pattern.to_owned(), remedy: Remedy::Command(command) }
    }
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warn => "warn",
            Severity::Critical => "critical",
        }
    }
}
