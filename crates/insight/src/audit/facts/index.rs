//! An index, and how much it is used.

use bson::{Bson, Document};

#[derive(Debug, Clone)]
pub struct Index {
    pub name: String,
    pub key: Document,
    /// What `listIndexes` says.
    pub spec: Document,
    /// How often it was used and since when, in milliseconds since 1970; added up over
    /// the nodes that answered.
    pub used: Option<Use>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    pub operations: u64,
    pub since: i64,
}

impl Index {
    pub fn new(spec: Document) -> Index {
        Index {
            name: spec.get_str("name").unwrap_or("").to_owned(),
            key: spec.get_document("key").cloned().unwrap_or_default(),
            spec,
            used: None,
        }
    }

    /// Takes in a document of `$indexStats`.
    pub fn add_use(&mut self, stats: &Document) {
        let Ok(accesses) = stats.get_document("accesses") else { return };
        let operations = match accesses.get("ops") {
            Some(Bson::Int64(count)) => u64::try_from(*count).unwrap_or(0),
            Some(Bson::Int32(count)) => u64::try_from(*count).unwrap_or(0),
            Some(Bson::Double(count)) => *count as u64,
            _ => return,
        };
        let since = accesses.get_datetime("since").map_or(0, |since| since.timestamp_millis());
        let before = self.used.unwrap_or(Use { operations: 0, since });
        self.used = Some(Use {
            operations: before.operations + operations,
            // What one node has counted for a day says nothing of the week before.
            since: before.since.max(since),
        });
    }

    pub fn is_id(&self) -> bool {
        self.name == "_id_"
    }

    pub fn is_unique(&self) -> bool {
        self.spec.get_bool("unique").unwrap_or(false)
    }

    /// Whether it holds every document: neither sparse nor partial.
    pub fn is_whole(&self) -> bool {
        !self.spec.get_bool("sparse").unwrap_or(false)
            && !self.spec.contains_key("partialFilterExpression")
    }

    pub fn expires(&self) -> bool {
        self.spec.contains_key("expireAfterSeconds")
    }

    pub fn collation(&self) -> Option<&Document> {
        self.spec.get_document("collation").ok()
    }

    /// Whether every key goes up or down: not hashed, text, wildcard or of places.
    pub fn is_ordered(&self) -> bool {
        let wildcard = self.key.keys().any(|key| key.contains("$**"));
        !wildcard && self.key.values().all(|value| direction(value).is_some())
    }

    /// The fields with their directions, where it is ordered.
    pub fn fields(&self) -> Vec<(&str, bool)> {
        let fields = self.key.iter();
        fields.map(|(key, value)| (&**key, direction(value).unwrap_or(true))).collect()
    }
}

/// Whether a key goes up; `None` where it does neither.
pub fn direction(value: &Bson) -> Option<bool> {
    match value {
        Bson::Int32(number) => Some(*number > 0),
        Bson::Int64(number) => Some(*number > 0),
        Bson::Double(number) => Some(*number > 0.0),
        _ => None,
    }
}
