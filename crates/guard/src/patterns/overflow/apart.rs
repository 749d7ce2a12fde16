//! An update taken apart: what is about arrays with pages, and the rest.

use crate::guarded::Reach;
use crate::policy::{ArrayRule, Keep, OnLimit, Policy};
use language::Needs;
use language::update::{Part, Update};
use smallvec::SmallVec;
use std::sync::OnceLock;
use value::Path;

/// Done once a document with pages is met, for all that follow.
#[derive(Debug, Default)]
pub struct Apart(OnceLock<Box<TakenApart>>);

#[derive(Debug)]
pub struct TakenApart {
    /// What is about each array of the policy, where that overflows.
    pub parts: Vec<Option<Part>>,
    /// The update without those parts that can be taken apart from it.
    pub rest: Option<Update>,
}

impl Apart {
    pub(super) fn of(&self, policy: &Policy, update: &Update) -> &TakenApart {
        self.0.get_or_init(|| {
            let mut taken = TakenApart { parts: Vec::new(), rest: None };
            for rule in &policy.arrays {
                let part = rule.overflows().then(|| update.part(&rule.path)).flatten();
                if part.as_ref().is_some_and(|part| part.update.is_some()) {
                    taken.rest = taken.rest.as_ref().unwrap_or(update).without(&rule.path);
                }
                taken.parts.push(part);
            }
            Box::new(taken)
        })
    }
}

/// What of a document must be loaded. Arrays that keep their oldest elements are left
/// out: a document with pages seldom needs its head.
pub fn needs(policy: &Policy, update: &Update, reach: &Reach, needs: &mut Needs) {
    let has_part = |path: &Path| reach.appended.is_some() || update.has_part(path);
    let is_apart = |rule: &&ArrayRule| match &rule.on_limit {
        OnLimit::Overflow(rule) => rule.keep == Keep::Oldest && has_part(&rule.path),
        _ => false,
    };
    if reach.only.is_some() && reach.touched(policy).all(|rule| is_apart(&rule)) {
        // There is nothing else.
        return;
    }
    let apart = reach.touched(policy).filter(is_apart);
    let paths: SmallVec<[&Path; 4]> = apart.map(|rule| &rule.path).collect();
    match paths.is_empty() {
        true => update.needs(needs),
        false => update.needs_without(&paths, needs),
    }
}
