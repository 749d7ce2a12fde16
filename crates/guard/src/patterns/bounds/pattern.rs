//! Bounds as patterns: of the arrays, and of the document as a whole.

use super::{check_names, check_size, check_undeclared, enforce, statement};
use crate::patterns::declaration::{Declaration, OneStatement, Single};
use crate::patterns::pattern::{Change, Insertion, Pattern, Step};
use crate::patterns::plan::Plan;
use crate::policy::{Policy, Undeclared};
use error::Result;
use language::Needs;
use language::update::Update;
use std::borrow::Cow;
use std::future::ready;
use write::Transaction;

/// Keeps arrays within their bounds, those that the policy names and all others. Those that
/// overflow belong to `Outlier`.
pub struct ArrayBounds;

impl Declaration for ArrayBounds {
    fn takes_part(&self, policy: &Policy) -> bool {
        !policy.arrays.is_empty() || policy.undeclared != Undeclared::Allow
    }

    fn as_statement(&self, policy: &Policy, change: &Single<'_>, one: &mut OneStatement) -> bool {
        statement::keep_arrays(policy, change, one)
    }
}

impl<T: Transaction> Pattern<T> for ArrayBounds {
    fn update_needs(&self, policy: &Policy, update: &Update, plan: &Plan, needs: &mut Needs) {
        // What arrays were decides whether they have grown.
        let anywhere = update.is_replacement() || update.is_pipeline();
        if anywhere && policy.undeclared != Undeclared::Allow {
            needs.all();
        }
        let touched = plan.reach.touched(policy).filter(|rule| !rule.overflows());
        touched.for_each(|rule| needs.add(&rule.path));
    }

    fn has_fast_insert(&self) -> bool {
        true
    }

    fn fast_insert(&self, insertion: &mut Insertion<'_, '_>) -> Result<()> {
        match &insertion.document {
            Some(document) => check_undeclared(insertion.policy, None, document),
            None => Ok(()),
        }
    }

    fn insert<'a>(&'a self, _: &'a mut T, insertion: &'a mut Insertion<'_, '_>) -> Step<'a> {
        Box::pin(ready(keep_new(insertion)))
    }

    fn has_fast_update<'c>(&self, _: &mut Change<'c, T>) -> bool {
        true
    }

    fn fast_update(&self, _: &T, change: &mut Change<'_, T>) -> Result<bool> {
        if change.glance.is_push() {
            // Nothing but an array that overflows has grown, by elements that may hold arrays.
            let grown = change.after.as_bytes().len().saturating_sub(change.row.as_bytes().len());
            if grown >= change.policy.digest.undeclared_bytes {
                check_undeclared(change.policy, Some(change.row), &change.after)?;
            }
            return Ok(true);
        }
        keep(change)?;
        Ok(true)
    }

    fn update<'a, 'c>(&'a self, _: &'a mut T, change: &'a mut Change<'c, T>) -> Step<'a>
    where
        'c: 'a,
    {
        Box::pin(ready(keep(change)))
    }
}

/// Refuses a new document, or lets go what is too much.
fn keep_new(insertion: &mut Insertion<'_, '_>) -> Result<()> {
    let policy = insertion.policy;
    if let Some(document) = insertion.document.take() {
        check_names(policy, &document)?;
        insertion.document = Some(enforce(policy, policy.arrays.iter(), None, document)?);
    }
    Ok(())
}

/// Refuses what an update has made of a document, or lets go what is too much.
fn keep<T: Transaction>(change: &mut Change<'_, T>) -> Result<()> {
    let after = std::mem::take(&mut change.after);
    let (policy, plan) = (change.policy, change.applied.plan);
    if plan.brings {
        check_names(policy, &after)?;
    }
    let touched = plan.reach.touched(policy);
    let kept = enforce(policy, touched, Some(change.base()), Cow::Owned(after))?;
    change.after = kept.into_owned();
    Ok(())
}

/// Keeps the document itself within its bound.
pub struct SizeBound;

impl Declaration for SizeBound {
    fn takes_part(&self, policy: &Policy) -> bool {
        policy.document.max_bytes.is_some()
    }

    fn as_statement(&self, policy: &Policy, change: &Single<'_>, one: &mut OneStatement) -> bool {
        statement::keep_size(policy, change, one)
    }
}

impl<T: Transaction> Pattern<T> for SizeBound {
    fn has_fast_insert(&self) -> bool {
        true
    }

    fn fast_insert(&self, insertion: &mut Insertion<'_, '_>) -> Result<()> {
        check_new(insertion)
    }

    fn insert<'a>(&'a self, _: &'a mut T, insertion: &'a mut Insertion<'_, '_>) -> Step<'a> {
        Box::pin(ready(check_new(insertion)))
    }

    fn has_fast_update<'c>(&self, _: &mut Change<'c, T>) -> bool {
        true
    }

    fn fast_update(&self, transaction: &T, change: &mut Change<'_, T>) -> Result<bool> {
        check_grown(transaction, change)?;
        Ok(true)
    }

    fn update<'a, 'c>(&'a self, transaction: &'a mut T, change: &'a mut Change<'c, T>) -> Step<'a>
    where
        'c: 'a,
    {
        Box::pin(ready(check_grown(transaction, change)))
    }
}

fn check_new(insertion: &Insertion<'_, '_>) -> Result<()> {
    match &insertion.document {
        Some(document) => {
            check_size(insertion.policy, document, document.as_bytes().len(), || None)
        }
        None => Ok(()),
    }
}

fn check_grown<T: Transaction>(transaction: &T, change: &Change<'_, T>) -> Result<()> {
    let Change { policy, row, after, .. } = change;
    let before = || Some(transaction.size(row, row));
    check_size(policy, after, transaction.size(row, after), before)
}
