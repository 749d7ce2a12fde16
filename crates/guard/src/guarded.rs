//! A collection that is not written to freely, as the write loop meets it.

use crate::patterns::place::check_single;
use crate::patterns::{bounds, fitting, overflow};
use crate::policy::{ArrayRule, Keep, OnLimit, Overflow, Policy, Undeclared};
use crate::read;
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};
use language::Needs;
use language::query::{Filter, Matched};
use language::update::Update;
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use value::{Path, elements};
use write::{Applied, AtOnce, Counted, Guard, Inserted, Outcome, Returns, Transaction};

#[derive(Debug)]
pub enum Guarded {
    Policy(Policy),
    /// It holds the pages of a collection; only that one's policy writes to it.
    Pages {
        of: Namespace,
    },
    /// Its policy cannot be read.
    Unreadable(Error),
}

/// What guards a collection, with the places where its holders are counted.
const GUARDED_BYTES: usize = 2 * 1024;

/// A rule for one array, and so many times its path.
const ARRAY_BYTES: usize = 1024;
const PATH_TIMES: usize = 8;

impl Guarded {
    /// What it takes in memory.
    pub(crate) fn footprint(&self) -> usize {
        let Guarded::Policy(policy) = self else { return GUARDED_BYTES };
        let rules = policy.arrays.iter();
        let rules = rules.map(|rule| ARRAY_BYTES + PATH_TIMES * rule.path.as_str().len());
        GUARDED_BYTES + rules.sum::<usize>()
    }
}

/// Up to how many arrays a document is walked for each, to see that it names none twice.
const WALKED_ARRAYS_MAX: usize = 8;

/// What a policy makes of an update before it meets a document.
#[derive(Debug)]
pub struct Plan {
    pub reach: Reach,
    /// Whether it may bring documents of the client's own making.
    pub brings: bool,
    pub apart: overflow::Apart,
}

impl Guarded {
    /// The policy, or the reason why nobody may write here.
    pub fn policy(&self) -> Result<&Policy> {
        match self {
            Guarded::Policy(policy) => Ok(policy),
            Guarded::Pages { of } => Err(Code::InvalidNamespace.error(format!(
                "these are pages, which the policy of '{of}' writes; write to '{of}' instead"
            ))),
            Guarded::Unreadable(error) => Err(Code::InvalidOptions.error(format!(
                "the policy of the collection cannot be read ({}); set it anew with \
                 setGrowthPolicy",
                error.message()
            ))),
        }
    }

    /// The arrays of a document that appending leaves as they are: what is pushed
    /// goes to their pages.
    pub fn cold(&self, document: &RawDocument, counted: &[Counted]) -> Vec<&Path> {
        let Guarded::Policy(policy) = self else { return Vec::new() };
        let has_pages = |at: usize, rule: &Overflow| match counted.iter().find(|it| it.rule == at) {
            Some(counted) => counted.after.is_some_and(|length| length.pages > 0),
            None => overflow::has_pages(document, rule),
        };
        let rules = policy.arrays.iter().enumerate();
        let cold = rules.filter(|(at, rule)| match &rule.on_limit {
            OnLimit::Overflow(rule) => rule.keep == Keep::Oldest && has_pages(*at, rule),
            _ => false,
        });
        cold.map(|(_, rule)| &rule.path).collect()
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
        let mut counters = policy.overflows().flat_map(|rule| rule.counters());
        let counters = counters.any(|path| update.touches(path));
        Reach { touched: touched.collect(), counters, ..Reach::default() }
    }

    /// Whether it changes nothing but arrays that have been counted.
    pub fn is_of(&self, counted: &[Counted]) -> bool {
        let is_counted = |at: &usize| counted.iter().any(|it| it.rule == *at);
        !self.counters && self.touched.iter().all(is_counted)
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

impl<T: Transaction> Guard<T> for Guarded {
    type Plan = Plan;

    fn plan(&self, update: &Update) -> Result<Plan> {
        Ok(plan(self.policy()?, update))
    }

    fn needs(&self, update: &Update, plan: &Plan, needs: &mut Needs) {
        let Guarded::Policy(policy) = self else { return };
        overflow::needs(policy, update, &plan.reach, needs);
        // What arrays were tells whether they have grown.
        let anywhere = update.is_replacement() || update.is_pipeline();
        if anywhere && policy.undeclared != Undeclared::Allow {
            needs.all();
        }
        let touched = plan.reach.touched(policy).filter(|rule| !rule.overflows());
        touched.for_each(|rule| needs.add(&rule.path));
    }

    fn shows_more(&self) -> bool {
        match self {
            Guarded::Policy(policy) => policy.digest.merges,
            // It is told that it must not write here.
            Guarded::Pages { .. } | Guarded::Unreadable(_) => true,
        }
    }

    async fn matches(
        &self,
        transaction: &mut T,
        row: &T::Row,
        filter: &Filter,
    ) -> Result<Option<Matched>> {
        let policy = self.policy()?;
        read::matches(policy, transaction, row, filter).await
    }

    async fn shown(
        &self,
        transaction: &mut T,
        document: &RawDocument,
        returns: &Returns<'_>,
    ) -> Result<RawDocumentBuf> {
        let Returns { needs, projection, .. } = returns;
        read::shown(self.policy()?, transaction, document, *projection, needs).await
    }

    fn insert_at_once<'d>(&self, document: Cow<'d, RawDocument>) -> Result<AtOnce<'d>> {
        let policy = self.policy()?;
        let fitted = fitting::insert(policy, document);
        if let AtOnce::Done(inserted) = &fitted {
            bounds::check_undeclared(policy, None, &inserted.document)?;
            check_new_size(policy, inserted)?;
        }
        Ok(fitted)
    }

    async fn insert<'d>(
        &self,
        transaction: &mut T,
        document: Cow<'d, RawDocument>,
    ) -> Result<Inserted<'d>> {
        let policy = self.policy()?;
        check_names(policy, &document)?;
        let document = bounds::enforce(policy, policy.arrays.iter(), None, document)?;
        let inserted = overflow::insert(policy, transaction, document).await?;
        check_new_size(policy, &inserted)?;
        Ok(inserted)
    }

    fn update_at_once(
        &self,
        transaction: &T,
        row: &T::Row,
        applied: &Applied<'_, Plan>,
    ) -> Result<Option<Outcome>> {
        let policy = self.policy()?;
        let Some(outcome) = overflow::update_at_once(policy, row, applied)? else {
            return Ok(None);
        };
        check(policy, transaction, row, applied.plan, &outcome)?;
        Ok(Some(outcome))
    }

    async fn update(
        &self,
        transaction: &mut T,
        row: &T::Row,
        applied: Applied<'_, Plan>,
    ) -> Result<Outcome> {
        let policy = self.policy()?;
        let outcome = overflow::update(policy, transaction, row, &applied).await?;
        check(policy, transaction, row, applied.plan, &outcome)?;
        Ok(outcome)
    }

    async fn delete(&self, transaction: &mut T, row: &T::Row) -> Result<()> {
        overflow::delete(self.policy()?, transaction, row).await
    }
}

/// What a policy makes of an update.
pub fn plan(policy: &Policy, update: &Update) -> Plan {
    let reach = Reach::of(policy, update);
    let deep = reach.touched(policy).any(|rule| rule.path.len() > 1);
    Plan {
        brings: update.is_replacement() || update.is_pipeline() || deep,
        reach,
        apart: overflow::Apart::default(),
    }
}

/// Refuses a new document that is larger than its policy allows.
fn check_new_size(policy: &Policy, inserted: &Inserted<'_>) -> Result<()> {
    let bytes = inserted.document.as_bytes().len();
    bounds::check_size(policy, &inserted.document, bytes, || None)
}

/// Refuses a document with two fields of the same name on a path of its policy.
fn check_names(policy: &Policy, document: &RawDocument) -> Result<()> {
    let mut paths = policy.arrays.iter().flat_map(ArrayRule::paths);
    if policy.arrays.len() <= WALKED_ARRAYS_MAX {
        return paths.try_for_each(|path| check_single(document, path));
    }
    let mut seen = FxHashSet::default();
    let repeated: FxHashSet<&[u8]> =
        elements(document).keyed().map(|(key, _)| key).filter(|key| !seen.insert(*key)).collect();
    let is_plain = |path: &Path| path.len() == 1 && !repeated.contains(path.as_str().as_bytes());
    paths.filter(|path| !is_plain(path)).try_for_each(|path| check_single(document, path))
}

/// Refuses what an update has made of a document, if its policy does not allow it.
fn check<T: Transaction>(
    policy: &Policy,
    transaction: &T,
    row: &T::Row,
    plan: &Plan,
    outcome: &Outcome,
) -> Result<()> {
    let Some(after) = &outcome.after else { return Ok(()) };
    if plan.brings {
        check_names(policy, after)?;
    }
    if policy.document.max_bytes.is_some() {
        let before = || Some(transaction.size(row, row));
        bounds::check_size(policy, after, transaction.size(row, after), before)?;
    }
    Ok(())
}
