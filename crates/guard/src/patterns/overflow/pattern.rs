//! Overflow as a pattern.

use super::glance::Glance;
use super::{apart, change, delete, insert, update};
use crate::patterns::declaration::Declaration;
use crate::patterns::pattern::{Change, Insertion, Paths, Pattern, Step};
use crate::patterns::plan::Plan;
use crate::policy::Policy;
use crate::provision::{self, Needed};
use bson::RawDocument;
use error::Result;
use language::update::Update;
use write::{StoredRow, Transaction};

/// Moves the elements of long arrays to pages: the outlier pattern.
pub struct Outlier;

impl Declaration for Outlier {
    fn takes_part(&self, policy: &Policy) -> bool {
        policy.digest.overflows
    }

    fn provides(&self, policy: &Policy, indexes: &[&RawDocument]) -> Vec<Needed> {
        let overflows = policy.overflows();
        overflows.flat_map(|overflow| provision::of_overflow(policy, overflow, indexes)).collect()
    }
}

impl<T: Transaction> Pattern<T> for Outlier {
    fn leaves_out<'p>(&self, policy: &'p Policy, update: &Update, plan: &Plan) -> Paths<'p> {
        apart::left_out(policy, update, &plan.reach)
    }

    fn has_fast_insert(&self) -> bool {
        true
    }

    fn fast_insert(&self, insertion: &mut Insertion<'_, '_>) -> Result<()> {
        insert::add_counts(insertion);
        Ok(())
    }

    fn insert<'a>(
        &'a self,
        transaction: &'a mut T,
        insertion: &'a mut Insertion<'_, '_>,
    ) -> Step<'a> {
        Box::pin(insert::insert(transaction, insertion))
    }

    fn has_fast_update<'c>(&self, change: &mut Change<'c, T>) -> bool {
        let glance = Glance::of(change.policy, change.row.version(), change.applied);
        let is_fast = glance.is_some();
        change.glance = glance.unwrap_or_default();
        is_fast
    }

    fn fast_update(&self, _: &T, change: &mut Change<'_, T>) -> Result<bool> {
        update::fast(change)
    }

    fn before_update<'a, 'c>(
        &'a self,
        transaction: &'a mut T,
        change: &'a mut Change<'c, T>,
    ) -> Step<'a>
    where
        'c: 'a,
    {
        Box::pin(change::before(transaction, change))
    }

    fn update<'a, 'c>(&'a self, transaction: &'a mut T, change: &'a mut Change<'c, T>) -> Step<'a>
    where
        'c: 'a,
    {
        Box::pin(async {
            match change.basis.is_apart {
                true => change::with_pages(transaction, change).await,
                false => update::settle(transaction, change).await,
            }
        })
    }

    fn delete<'a>(
        &'a self,
        transaction: &'a mut T,
        policy: &'a Policy,
        row: &'a T::Row,
    ) -> Step<'a> {
        Box::pin(delete(policy, transaction, row))
    }
}
