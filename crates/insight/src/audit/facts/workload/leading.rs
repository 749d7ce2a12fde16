//! What an index can do for an operation: its filter and sort, or the first stages of its
//! pipeline.

use super::Operation;
use bson::{Bson, Document};

impl Operation {
    /// The conditions on whole documents, before anything changes them.
    pub fn filters(&self) -> Vec<&Document> {
        let own = (!self.filter.is_empty()).then_some(&self.filter);
        let stages = self.pipeline.iter().take_while(|stage| is_leading(stage));
        own.into_iter().chain(stages.filter_map(|it| it.get_document("$match").ok())).collect()
    }

    /// The order of whole documents that is asked for.
    pub fn sorted(&self) -> Option<&Document> {
        if !self.sort.is_empty() {
            return Some(&self.sort);
        }
        let mut stages = self.pipeline.iter().take_while(|stage| is_leading(stage));
        stages.find_map(|it| it.get_document("$sort").ok())
    }

    /// How many whole documents it asks for at most.
    pub fn limit(&self) -> Option<u64> {
        let stage = self.pipeline.iter().find(|stage| !is_leading(stage));
        let limit = match stage.and_then(|stage| stage.get("$limit")) {
            Some(Bson::Int32(limit)) => u64::try_from(*limit).ok(),
            Some(Bson::Int64(limit)) => u64::try_from(*limit).ok(),
            Some(Bson::Double(limit)) => Some(*limit as u64),
            _ => Some(self.limit),
        };
        limit.filter(|limit| *limit > 0)
    }

    /// Whether each document it looks at may be one that it returns: it counts and groups
    /// nothing.
    pub fn returns_documents(&self) -> bool {
        const KEEP: &[&str] = &[
            "$addFields",
            "$limit",
            "$lookup",
            "$match",
            "$project",
            "$set",
            "$skip",
            "$sort",
            "$unset",
        ];
        let keeps = |stage: &Document| stage.keys().all(|name| KEEP.contains(&&**name));
        match &*self.command {
            "count" | "distinct" => false,
            _ => self.pipeline.iter().all(keeps),
        }
    }
}

fn is_leading(stage: &Document) -> bool {
    stage.contains_key("$match") || stage.contains_key("$sort")
}
