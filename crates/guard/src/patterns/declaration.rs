//! What a pattern is apart from any transaction.

use super::plan::Plan;
use crate::policy::Policy;
use crate::provision::Needed;
use bson::{RawDocument, RawDocumentBuf};
use value::DocumentWriter;

/// When a pattern takes part, what its policies need, and whether one statement can do its
/// work.
pub trait Declaration: Sync {
    /// Whether a policy has something for this pattern to do.
    fn takes_part(&self, policy: &Policy) -> bool;

    /// What the policy needs beside its collection, which has these indexes.
    fn provides(&self, policy: &Policy, indexes: &[&RawDocument]) -> Vec<Needed> {
        let _ = (policy, indexes);
        Vec::new()
    }

    /// Whether one statement on one document does what the write loop would: conditions may
    /// be added to its filter, and the update may become another. Where the conditions do not
    /// hold, the loop decides.
    fn as_statement(&self, policy: &Policy, change: &Single<'_>, one: &mut OneStatement) -> bool {
        let _ = (policy, change, one);
        false
    }
}

/// A client's update of one document, by operators.
pub struct Single<'a> {
    pub document: &'a RawDocument,
    pub plan: &'a Plan,
}

/// An update that keeps a policy by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct OneStatement {
    /// What must hold of the document, beside the client's filter.
    pub conditions: Vec<RawDocumentBuf>,
    pub update: RawDocumentBuf,
}

impl OneStatement {
    /// The client's filter with the conditions.
    pub fn filter(&self, filter: &RawDocument) -> RawDocumentBuf {
        if self.conditions.is_empty() {
            return filter.to_owned();
        }
        let mut all = DocumentWriter::new();
        all.begin_array("$and");
        all.push(bson::RawBsonRef::Document(filter));
        self.conditions.iter().for_each(|it| all.push(bson::RawBsonRef::Document(it)));
        all.end();
        all.finish()
    }
}
