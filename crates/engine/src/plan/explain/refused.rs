//! What a write refuses instead of writing to it: documents with pages, of which its filter sees
//! no more than the head of an array that it names.

use super::HiddenLook;
use crate::catalog::Collection;
use crate::plan::{Chosen, Execution, Interrupt};
use crate::storage::{RecordId, View};
use error::Result;
use guard::Lease;
use guard::read::refuse_head;
use language::Needs;
use language::query::Filter;
use std::sync::Arc;
use write::Version;

pub struct Refused<'a> {
    filter: Arc<Filter>,
    roles: Lease,
    collection: &'a Collection,
    view: &'a View,
    hidden: Execution,
}

impl<'a> Refused<'a> {
    pub fn new(
        look: HiddenLook,
        collection: &'a Arc<Collection>,
        view: &'a View,
        interrupt: &Interrupt,
    ) -> Result<Refused<'a>> {
        let HiddenLook { query, roles } = look;
        let filter = query.filter.clone();
        let hidden = Chosen::observed(Some(collection), &Arc::new(query), view, interrupt)?.winner;
        Ok(Refused { filter, roles, collection, view, hidden })
    }

    /// Fails as the write would for a document that matches.
    pub fn check(&self, record: RecordId) -> Result<()> {
        let stored = self.view.record(self.collection.id, record)?;
        let (Some(stored), Some(policy)) = (stored, self.roles.policy()) else { return Ok(()) };
        // Counters are never out of line.
        let document = stored.load(self.view, &Needs::none())?;
        let version = Version { document: &document, sidecar: stored.sidecar() };
        refuse_head(policy, version, &self.filter)
    }

    /// Looks at the documents that match by what the filter does not see.
    pub fn look(&mut self) -> Result<()> {
        while let Some(row) = self.hidden.next() {
            self.check(row?.record)?;
        }
        Ok(())
    }
}
