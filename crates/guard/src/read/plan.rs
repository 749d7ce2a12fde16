//! The read plan: what a read of a namespace finds there. Every reader goes by it.

use super::Completion;
use crate::Roles;
use crate::policy::Read;
use bson::RawDocument;
use language::Needs;
use language::query::Filter;

#[derive(Debug, Clone, Default)]
pub enum ReadPlan {
    /// Documents as they are stored.
    #[default]
    Stored,
    /// Documents completed with elements from their pages.
    Completed(Completion),
}

impl ReadPlan {
    /// How a collection is read under a projection and a sort.
    pub fn new(roles: &Roles, projection: Option<&RawDocument>, sort: &Needs) -> ReadPlan {
        // Pages are ordinary documents, and a policy that cannot be read stops writes only.
        let Some(policy) = roles.policy() else { return ReadPlan::Stored };
        let completion = Completion::new(policy, projection, sort);
        completion.map_or(ReadPlan::Stored, ReadPlan::Completed)
    }

    /// For the filter of a write: how documents are read that match by what is in pages, where
    /// the policy shows heads alone. Such a write is refused, not left without a match.
    pub fn of_hidden(roles: &Roles, filter: &Filter) -> Option<ReadPlan> {
        let policy = roles.policy().filter(|policy| policy.digest.overflows)?;
        let mut needs = Needs::none();
        filter.depends_on(&mut needs);
        let mut heads = policy.overflows().filter(|rule| rule.read == Read::Head);
        heads.find(|rule| needs.contains(&rule.path))?;
        let whole = policy.with_arrays_whole();
        Completion::new(&whole, None, &Needs::none()).map(ReadPlan::Completed)
    }

    /// The projection that is left to apply, where completion has done a part of it.
    pub fn projection(&self) -> Option<&RawDocument> {
        match self {
            ReadPlan::Completed(completion) => completion.projection.as_deref(),
            ReadPlan::Stored => None,
        }
    }
}
