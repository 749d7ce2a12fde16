//! One collection: what is known of it when the detectors look.

use super::{Index, Operation, ShardKey};
use bson::Document;
use command::Namespace;
use guard::Policy;
use serde_json::Value;

#[derive(Debug)]
pub struct Collection {
    pub namespace: Namespace,
    pub kind: Kind,
    /// The options of `listCollections`, the validator among them.
    pub options: Document,
    /// Its growth policy, on Freeboard.
    pub policy: Option<Policy>,
    /// The same as it was declared.
    pub declared: Option<Value>,
    /// How many documents and bytes it holds, as far as the server knows.
    pub documents: Option<u64>,
    pub bytes: Option<u64>,
    pub indexes: Vec<Index>,
    pub shard_key: Option<ShardKey>,
    /// What was done to it lately, where the server keeps a record.
    pub operations: Vec<Operation>,
    /// What operations on other collections read of it by `$lookup`.
    pub joined: Vec<Operation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ordinary,
    Capped,
    TimeSeries,
    View,
    /// Pages of an array that overflows: kept in bounds by Freeboard.
    Pages,
}

impl Collection {
    pub fn new(namespace: Namespace, kind: Kind, options: Document) -> Collection {
        Collection {
            namespace,
            kind,
            options,
            policy: None,
            declared: None,
            documents: None,
            bytes: None,
            indexes: Vec::new(),
            shard_key: None,
            operations: Vec::new(),
            joined: Vec::new(),
        }
    }

    /// Takes in what `$indexStats` says.
    pub fn add_index_uses(&mut self, rows: &[Document]) {
        for row in rows {
            let name = row.get_str("name").unwrap_or("");
            if let Some(index) = self.indexes.iter_mut().find(|it| it.name == name) {
                index.add_use(row);
            }
        }
    }

    /// The validator, where it refuses anything.
    pub fn validator(&self) -> Option<&Document> {
        if self.is_validated() { self.declared_validator() } else { None }
    }

    /// The validator that is declared, whether it refuses anything or only warns.
    pub fn declared_validator(&self) -> Option<&Document> {
        self.options.get_document("validator").ok()
    }

    /// Whether what the validator finds wrong is refused.
    pub fn is_validated(&self) -> bool {
        let off = self.options.get_str("validationLevel").is_ok_and(|level| level == "off");
        let warns = self.options.get_str("validationAction").is_ok_and(|action| action == "warn");
        !off && !warns
    }

    /// The bytes of a document on average, as the server has them.
    pub fn mean_bytes(&self) -> Option<f64> {
        let (bytes, documents) = (self.bytes?, self.documents?);
        (documents > 0).then(|| bytes as f64 / documents as f64)
    }

    /// Documents that are there for each that was looked at.
    pub fn scale(&self, scanned: u64) -> f64 {
        match self.documents {
            Some(all) if scanned > 0 => (all as f64 / scanned as f64).max(1.0),
            _ => 1.0,
        }
    }
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ordinary => "collection",
            Kind::Capped => "capped",
            Kind::TimeSeries => "timeseries",
            Kind::View => "view",
            Kind::Pages => "pages",
        }
    }

    /// Whether its documents are looked at one by one.
    pub fn is_scanned(self) -> bool {
        !matches!(self, Kind::View | Kind::TimeSeries)
    }

    /// Whether clients make its documents grow.
    pub fn grows(self) -> bool {
        self == Kind::Ordinary
    }
}
