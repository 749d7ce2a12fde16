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
    /// What other detectors found, of the same cause and with the same cure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
    pub cure: Cure,
    /// Findings of one collection with the same cause are one.
    #[serde(skip)]
    pub cause: Option<String>,
}

/// What another detector found of the same cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Also {
    pub detector: String,
    pub summary: String,
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
    /// Why it is this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// What applications see before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

/// What to run: one of two kinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remedy {
    /// A file for `freeboard apply`.
    Policy(Value),
    /// Lines for mongosh.
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
            also: Vec::new(),
            cure,
            cause: None,
        }
    }

    /// Whether one of these detectors found it, or the same cause.
    pub fn is_of(&self, detectors: &[&str]) -> bool {
        let mut names = self.also.iter().map(|it| &*it.detector).chain([&*self.detector]);
        names.any(|name| detectors.contains(&name))
    }

    /// What it comes from, where other detectors may see the same.
    pub fn cause(mut self, cause: impl Into<String>) -> Finding {
        self.cause = Some(cause.into());
        self
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
        Cure::new(pattern, Remedy::Policy(file))
    }

    /// Commands with names of their own: in a block, so that two scripts fit into one session.
    pub fn script(pattern: &str, script: &str) -> Cure {
        let lines: Vec<String> = script.lines().map(|line| format!("  {line}")).collect();
        Cure::command(pattern, format!("{{\n{}\n}}", lines.join("\n")))
    }

    pub fn command(pattern: &str, command: String) -> Cure {
        Cure::new(pattern, Remedy::Command(command))
    }

    pub fn new(pattern: &str, remedy: Remedy) -> Cure {
        Cure { pattern: pattern.to_owned(), remedy, why: Vec::new(), seen: None }
    }

    pub fn why(mut self, why: Vec<String>) -> Cure {
        self.why = why;
        self
    }

    pub fn seen(mut self, seen: String) -> Cure {
        self.seen = Some(seen);
        self
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
