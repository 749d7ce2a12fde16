//! What is known of an update before it meets a document.

use super::measured::ArrayLength;
use super::overflow::Apart;
use crate::policy::{ArrayRule, Policy};
use language::update::Update;
use smallvec::{SmallVec, smallvec};

/// What a policy makes of an update, once for all the documents it will meet.
#[derive(Debug)]
pub struct Plan {
    pub reach: Reach,
    /// Whether it may bring documents of the client's own making.
    pub brings: bool,
    pub apart: Apart,
}

impl Plan {
    pub fn of(policy: &Policy, update: &Update) -> Plan {
        let reach = Reach::of(policy, update);
        let deep = reach.touched(policy).any(|rule| rule.path.len() > 1);
        Plan {
            brings: update.is_replacement() || update.is_pipeline() || deep,
            reach,
            apart: Apart::default(),
        }
    }
}

/// What of all that a policy names an update may change.
#[derive(Debug, Default)]
pub struct Reach {
    /// The arrays.
    touched: SmallVec<[usize; 2]>,
    /// What counts them.
    pub counters: bool,
    /// The one array that it is about, if it is about nothing else,
    pub only: Option<usize>,
    /// and how many elements it appends to that, if it does nothing else to it.
    pub appended: Option<usize>,
}

impl Reach {
    fn of(policy: &Policy, update: &Update) -> Reach {
        if !update.touches_names(policy.digest.roots) {
            return Reach::default();
        }
        // No path of a policy is part of another.
        let rules = policy.arrays.iter().enumerate();
        let only = rules.clone().find(|(_, rule)| update.touches_only(&rule.path));
        if let Some((at, rule)) = only {
            let appended = update.appended(&rule.path);
            return Reach { touched: smallvec![at], counters: false, only: Some(at), appended };
        }
        let touched = rules.filter(|(_, rule)| update.touches(&rule.path)).map(|(at, _)| at);
        let mut counters = policy.overflows().flat_map(|rule| rule.named());
        let counters = counters.any(|path| update.touches(path));
        Reach { touched: touched.collect(), counters, ..Reach::default() }
    }

    /// Whether it changes nothing but arrays that have been measured.
    pub fn is_of(&self, measured: &[ArrayLength]) -> bool {
        let is_measured = |at: &usize| measured.iter().any(|it| it.rule == *at);
        !self.counters && self.touched.iter().all(is_measured)
    }

    /// Whether it may change what an array holds.
    pub fn touches(&self, at: usize) -> bool {
        self.touched.contains(&at)
    }

    /// Whether it may change an array, or what counts some.
    pub fn may_change(&self, at: usize) -> bool {
        self.counters || self.touched.contains(&at)
    }

    /// The rules whose arrays it may change.
    pub fn touched<'p>(&self, policy: &'p Policy) -> impl Iterator<Item = &'p ArrayRule> {
        self.touched.iter().filter_map(|at| policy.arrays.get(*at))
    }
}
