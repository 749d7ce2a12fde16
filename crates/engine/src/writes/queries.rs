//! The queries by which a write finds its documents: those that run, and that explain shows.

use crate::catalog::Catalog;
use crate::guarded::WithPolicies;
use crate::plan::{Audience, Hint, Query, Sort};
use command::Namespace;
use error::Result;
use guard::Lease;
use guard::read::ReadPlan;
use language::Needs;
use write::Selection;

pub struct WriteQueries {
    /// What the filter sees.
    pub seen: Query,
    /// What it does not see, where the policy shows heads alone: a match there is refused.
    pub hidden: Option<Query>,
}

impl WriteQueries {
    /// `query` is one of the selection's filter. `looks_at` is what is looked at in the rows
    /// themselves; a write that runs reads each again.
    pub fn new(
        mut query: Query,
        namespace: &Namespace,
        selection: &Selection<'_>,
        catalog: &Catalog,
        looks_at: &Needs,
    ) -> Result<WriteQueries> {
        query.sort = selection.sort.map(Sort::parse).transpose()?.unwrap_or_default();
        query.hint = selection.hint.map(Hint::parse).transpose()?.flatten();
        query.collator = selection.filter.collator().cloned();
        let read_by = |mut query: Query, plan: ReadPlan| {
            let audience = match &plan {
                ReadPlan::Completed(completion) if completion.reaches(looks_at) => Audience::Stages,
                _ => Audience::Matching,
            };
            query.read_by(plan, catalog, audience)?;
            Ok(query)
        };
        let hidden = |roles: &Lease| ReadPlan::of_hidden(roles, selection.filter);
        let hidden = catalog.roles(namespace).and_then(hidden);
        let hidden = hidden.map(|plan| read_by(query.clone(), plan)).transpose()?;
        let seen = read_by(query, catalog.read_plan(namespace, None))?;
        Ok(WriteQueries { seen, hidden })
    }
}
