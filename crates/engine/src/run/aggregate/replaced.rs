//! A pipeline that reads the collection that its `$out` replaces: of an array with pages it sees
//! the head, which cannot take the place of the whole.

use crate::catalog::Collection;
use crate::run::Call;
use bson::RawDocumentBuf;
use error::Result;
use guard::Policy;
use guard::patterns::overflow::check_read_to_replace;
use guard::policy::{Overflow, Read};
use language::Needs;
use language::aggregate::Pipeline;
use language::aggregate::stages::Target;
use std::sync::Arc;

/// The arrays whose heads are read.
pub struct Replaced(Vec<Arc<Overflow>>);

impl Replaced {
    /// `None` if the pipeline replaces something else, or looks at no such array.
    pub fn of(
        call: Call<'_>,
        collection: &Collection,
        pipeline: &Pipeline,
        needs: &Needs,
    ) -> Option<Replaced> {
        let Target::Out { database, collection: target, .. } = pipeline.target()? else {
            return None;
        };
        let own = &collection.namespace;
        let is_own = database.as_deref().is_none_or(|it| *it == *own.database);
        if !is_own || **target != *own.collection {
            return None;
        }
        let heads = call.engine.policies.look(own, |roles| {
            let overflows = roles.policy().into_iter().flat_map(Policy::overflows);
            let heads = overflows.filter(|rule| rule.read == Read::Head);
            heads.filter(|rule| needs.contains(&rule.path)).cloned().collect::<Vec<_>>()
        });
        heads.filter(|heads| !heads.is_empty()).map(Replaced)
    }

    /// What tells whether there are pages.
    pub fn needs(&self, needs: &mut Needs) {
        self.0.iter().flat_map(|rule| rule.named()).for_each(|path| needs.add(path));
    }

    pub fn check(&self, document: RawDocumentBuf) -> Result<RawDocumentBuf> {
        let mut rules = self.0.iter();
        let checked = rules.try_for_each(|rule| check_read_to_replace(rule, &document));
        checked.map_err(|error| error.context("PlanExecutor error during aggregation"))?;
        Ok(document)
    }
}
