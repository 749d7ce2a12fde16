//! The read plan: what a read of a namespace finds there. Every reader goes by it.

use super::Completion;
use crate::Roles;
use bson::RawDocument;

#[derive(Debug, Clone, Default)]
pub enum ReadPlan {
    /// Documents as they are stored.
    #[default]
    Stored,
    /// Documents completed with elements from their pages.
    Completed(Completion),
}

impl ReadPlan {
    /// How a collection is read under a projection.
    pub fn new(roles: &Roles, projection: Option<&RawDocument>) -> ReadPlan {
        // Pages are ordinary documents, and a policy that cannot be read stops writes only.
        let Some(policy) = roles.policy() else { return ReadPlan::Stored };
        let completion = Completion::new(policy, projection);
        completion.map_or(ReadPlan::Stored, ReadPlan::Completed)
    }

    /// The projection that is left to apply, where completion has done a part of it.
    pub fn projection(&self) -> Option<&RawDocument> {
        match self {
            ReadPlan::Completed(completion) => completion.projection.as_deref(),
            ReadPlan::Stored => None,
        }
    }
}
