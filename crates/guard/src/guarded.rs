//! A collection that is not written to freely, as the write loop meets it.

use crate::patterns::place::check_single;
use crate::patterns::sight::Sight;
use crate::patterns::{bounds, overflow};
use crate::policy::{ArrayRule, Keep, OnLimit, Overflow, Policy};
use crate::read;
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};
use language::Needs;
use language::query::{Filter, Matched};
use language::update::Update;
use std::borrow::Cow;
use std::sync::Arc;
use value::Path;
use write::{Applied, Counted, Guard, Inserted, Outcome, Returns, Transaction};

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

/// Whether one and the same guards, or nothing does.
pub fn is_same(one: Option<&Arc<Guarded>>, other: Option<&Arc<Guarded>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// What a policy makes of an update before it meets a document.
#[derive(Debug)]
pub struct Plan {
    /// Whether the update may change what some bound is on.
    pub bounds: bool,
    /// Whether it may bring documents of the client's own making.
    pub brings: bool,
    pub overflow: overflow::Plan,
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

/// What an update may change.
#[derive(Clone, Copy)]
pub struct Reach<'u> {
    pub update: &'u Update,
    /// Which array of the policy it is about, if it is about nothing else.
    pub only: Option<usize>,
}

impl<'u> Reach<'u> {
    fn of(policy: &Policy, update: &'u Update) -> Reach<'u> {
        let only = policy.arrays.iter().position(|rule| update.touches_only(&rule.path));
        Reach { update, only }
    }

    /// The rules whose arrays it may change. No path of a policy is part of another.
    pub fn touched(self, policy: &Policy) -> impl Iterator<Item = &ArrayRule> {
        let rules = policy.arrays.iter().enumerate();
        rules.filter_map(move |(at, rule)| {
            let touched = match self.only {
                Some(only) => only == at,
                None => self.update.touches(&rule.path),
            };
            touched.then_some(rule)
        })
    }
}

impl<T: Transaction> Guard<T> for Guarded {
    type Plan = Plan;

    fn plan(&self, update: &Update) -> Result<Plan> {
        let policy = self.policy()?;
        let reach = Reach::of(policy, update);
        let mut touched = reach.touched(policy).filter(|rule| !rule.overflows());
        let whole = policy.undeclared != crate::policy::Undeclared::Allow;
        let mut deep = reach.touched(policy).filter(|rule| rule.path.len() > 1);
        Ok(Plan {
            bounds: whole || touched.next().is_some(),
            brings: update.is_replacement() || update.is_pipeline() || deep.next().is_some(),
            overflow: overflow::Plan::new(policy, reach),
        })
    }

    fn needs(&self, update: &Update, plan: &Plan, needs: &mut Needs) {
        let Guarded::Policy(policy) = self else { return };
        let reach = Reach { update, only: plan.overflow.only };
        overflow::needs(policy, reach, needs);
        // What they were tells whether they have grown.
        let touched = reach.touched(policy).filter(|rule| !rule.overflows());
        touched.for_each(|rule| needs.add(&rule.path));
    }

    async fn matches(
        &self,
        transaction: &mut T,
        row: &T::Row,
        filter: &Filter,
    ) -> Result<Option<Matched>> {
        let policy = self.policy()?;
        if policy.merged().next().is_none() {
            return filter.matches_at(row);
        }
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

    async fn insert<'d>(
        &self,
        transaction: &mut T,
        document: Cow<'d, RawDocument>,
    ) -> Result<Inserted<'d>> {
        let policy = self.policy()?;
        let sight = Sight::of(policy, &document);
        sight.check_single(&policy.arrays)?;
        let inserted = if bounds::hold(policy, &sight) {
            bounds::check_undeclared(policy, None, &document)?;
            let fitted = overflow::insert(policy, transaction, &sight).await?;
            fitted.apply(document)?
        } else {
            let document = bounds::enforce(policy, None, document)?;
            let sight = Sight::of(policy, &document);
            let fitted = overflow::insert(policy, transaction, &sight).await?;
            fitted.apply(document)?
        };
        let document = &inserted.document;
        bounds::check_size(policy, document, None, document.as_bytes().len())?;
        Ok(inserted)
    }

    async fn update(
        &self,
        transaction: &mut T,
        row: &T::Row,
        applied: Applied<'_, Plan>,
    ) -> Result<Outcome> {
        let policy = self.policy()?;
        let mut outcome = match overflow::update_at_once(policy, row, &applied)? {
            Some(outcome) => outcome,
            None => overflow::update(policy, transaction, row, &applied).await?,
        };
        let Some(after) = outcome.after.take() else { return Ok(outcome) };
        if applied.plan.brings {
            let mut paths = policy.arrays.iter().flat_map(ArrayRule::paths);
            paths.try_for_each(|path| check_single(&after, path))?;
        }
        if policy.document.max_bytes.is_some() {
            let before = transaction.size(row, row);
            bounds::check_size(policy, &after, Some(before), transaction.size(row, &after))?;
        }
        outcome.after = Some(after);
        Ok(outcome)
    }

    async fn delete(&self, transaction: &mut T, row: &T::Row) -> Result<()> {
        overflow::delete(self.policy()?, transaction, row).await
    }
}
