//! An update taken apart: what is about arrays with pages, and the rest.

use crate::patterns::pattern::Paths;
use crate::patterns::plan::Reach;
use crate::policy::{ArrayRule, Keep, OnLimit, Policy};
use language::update::{Part, Update};
use std::sync::{Arc, OnceLock};
use value::Path;

/// Done once a document with pages is met, for all that follow.
#[derive(Debug, Default)]
pub struct Apart(OnceLock<Box<TakenApart>>);

#[derive(Debug)]
pub struct TakenApart {
    /// What is about each array of the policy, where that overflows.
    pub parts: Vec<Option<Part>>,
    /// The update without those parts that can be taken apart from it.
    pub rest: Option<Arc<Update>>,
}

impl Apart {
    /// What is about one array of the policy.
    pub fn part(&self, policy: &Policy, update: &Update, at: usize) -> Option<&Part> {
        self.of(policy, update).parts.get(at).and_then(Option::as_ref)
    }

    pub(super) fn of(&self, policy: &Policy, update: &Update) -> &TakenApart {
        self.0.get_or_init(|| {
            let (mut parts, mut rest) = (Vec::new(), None);
            for rule in &policy.arrays {
                let part = rule.overflows().then(|| update.part(&rule.path)).flatten();
                if part.as_ref().is_some_and(|part| part.update.is_some()) {
                    rest = rest.as_ref().unwrap_or(update).without(&rule.path);
                }
                parts.push(part);
            }
            Box::new(TakenApart { parts, rest: rest.map(Arc::new) })
        })
    }
}

/// Arrays that an update need not see. A document with pages seldom needs its head where that
/// keeps the oldest elements.
pub fn left_out<'p>(policy: &'p Policy, update: &Update, reach: &Reach) -> Paths<'p> {
    let has_part = |path: &Path| reach.appended.is_some() || update.has_part(path);
    let is_apart = |rule: &&ArrayRule| match &rule.on_limit {
        OnLimit::Overflow(rule) => rule.keep == Keep::Oldest && has_part(&rule.path),
        _ => false,
    };
    reach.touched(policy).filter(is_apart).map(|rule| &rule.path).collect()
}
