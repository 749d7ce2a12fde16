//! What is known of an update before it meets a document.

use super::Seen;
use super::update::Met;
use crate::guarded::Reach;
use crate::policy::{ArrayRule, Keep, OnLimit, Policy};
use bson::RawDocument;
use language::Needs;
use language::update::{Part, Update};
use smallvec::SmallVec;
use std::sync::OnceLock;
use value::Path;

/// What an update does to the arrays that overflow.
#[derive(Debug)]
pub struct Plan {
    /// Whether it may change the arrays,
    arrays: bool,
    /// or what counts them,
    counters: bool,
    /// and which array of the policy it changes, if it changes nothing else.
    pub only: Option<usize>,
    /// The update taken apart, once a document with pages is met.
    taken_apart: OnceLock<Box<TakenApart>>,
}

#[derive(Debug)]
pub struct TakenApart {
    /// A part for each array of the policy that overflows.
    pub parts: Vec<Option<Part>>,
    /// The update without those parts that can be taken apart from it.
    pub rest: Option<Update>,
}

impl Plan {
    pub fn new(policy: &Policy, reach: Reach<'_>) -> Plan {
        let Reach { update, only } = reach;
        let mut counters = policy.overflows().flat_map(|rule| rule.counters());
        Plan {
            arrays: reach.touched(policy).any(ArrayRule::overflows),
            counters: only.is_none() && counters.any(|path| update.touches(path)),
            only,
            taken_apart: OnceLock::new(),
        }
    }

    /// Whether the update is about neither the arrays nor what counts them.
    pub(super) fn is_elsewhere(&self) -> bool {
        !self.arrays && !self.counters
    }

    /// What a document shows of an array after the update.
    pub(super) fn seen<'d>(
        &self,
        met: &Met<'d>,
        base: &RawDocument,
        after: &'d RawDocument,
    ) -> Seen<'d> {
        if self.counters {
            return Seen::of(after, met.rule);
        }
        let grown = match self.only == Some(met.at) {
            true => met.was.in_grown(base, after),
            false => None,
        };
        grown.unwrap_or_else(|| met.was.in_next(after, met.rule))
    }

    pub(super) fn taken_apart(&self, policy: &Policy, update: &Update) -> &TakenApart {
        self.taken_apart.get_or_init(|| {
            let mut taken = TakenApart { parts: Vec::new(), rest: None };
            for rule in policy.overflows() {
                let part = update.part(&rule.path);
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
pub fn needs(policy: &Policy, reach: Reach<'_>, needs: &mut Needs) {
    let update = reach.update;
    let apart = reach.touched(policy).filter(|rule| match &rule.on_limit {
        OnLimit::Overflow(rule) => rule.keep == Keep::Oldest && update.has_part(&rule.path),
        _ => false,
    });
    let paths: SmallVec<[&Path; 4]> = apart.map(|rule| &rule.path).collect();
    match paths.is_empty() {
        true => update.needs(needs),
        // There is nothing else.
        false if reach.only.is_some() => {}
        false => update.needs_without(&paths, needs),
    }
}
