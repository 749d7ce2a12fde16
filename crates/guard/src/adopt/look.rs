//! A whole collection looked through once its policy is set: documents over the bounds are
//! counted, and fields that only look like the policy's counters are put right.

use super::{Aim, settle};
use crate::Roles;
use crate::patterns::place;
use crate::policy::Policy;
use crate::survey::{Documents, Survey};
use bson::RawBson;
use error::{Error, Result};
use std::ops::Deref;
use std::time::Instant;
use write::{Backend, Snapshot, Transaction};

/// Documents with wrong counters that are put right between two looks.
const STALE_DOCUMENTS_MAX: usize = 1_000;

/// What was found in a collection.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Documents over some bound, as far as was looked.
    pub oversize: u64,
    /// Whether all documents were looked at.
    pub complete: bool,
    /// Whether some document's counters could not be put right.
    pub unsettled: bool,
}

/// Counts the documents over a policy's bounds until the time is up, and changes nothing.
pub async fn count_oversize<B: Backend>(
    backend: &B,
    policy: &Policy,
    until: Instant,
) -> Result<Adopted> {
    let mut adopted = Adopted::default();
    let mut look = Look::new(policy, Some(until));
    loop {
        adopted.complete = look.go_on(&mut backend.snapshot().await?, &mut adopted).await?;
        look.stale.clear();
        if adopted.complete || look.is_late() {
            return Ok(adopted);
        }
    }
}

/// Counts the documents over a policy's bounds, and puts counters right on the way, until the
/// time is up. `adopted` says how far it came, even where it fails. `failed` says whose failure
/// an error is: one document's, or (`Err`) that of the whole.
pub async fn settle_counters<B>(
    backend: &B,
    policy: &Policy,
    until: Option<Instant>,
    adopted: &mut Adopted,
    failed: &(dyn Fn(Error) -> Result<Error> + Sync),
) -> Result<()>
where
    B: Backend,
    B::Transaction: Transaction<Guard: Deref<Target = Roles>>,
{
    let namespace = &policy.namespace;
    let mut look = Look::new(policy, until);
    loop {
        // A snapshot a stretch: nothing that takes long holds one.
        let through = look.go_on(&mut backend.snapshot().await?, adopted).await?;
        for id in std::mem::take(&mut look.stale) {
            let id = id.as_raw_bson_ref();
            if let Err(error) = settle(backend, namespace, id, Aim::Counters).await {
                let error = failed(error)?;
                adopted.unsettled = true;
                let id = value::text::value(id);
                tracing::warn!(%namespace, id, %error, "a document's counters stay wrong");
            }
        }
        // Only now: who is stopped on the way has not put all of them right.
        adopted.complete = through;
        if through || look.is_late() {
            return Ok(());
        }
    }
}

/// Where a look over a collection has come to.
struct Look<'a> {
    survey: Survey<'a>,
    /// The `_id` of the last document looked at.
    after: Option<RawBson>,
    /// The `_id`s of documents whose counters are wrong.
    stale: Vec<RawBson>,
    until: Option<Instant>,
}

impl<'a> Look<'a> {
    fn new(policy: &'a Policy, until: Option<Instant>) -> Look<'a> {
        let survey = Survey { policy, costs: false };
        Look { survey, after: None, stale: Vec::new(), until }
    }

    /// Goes on until it has enough to do or its time is up; true at the end.
    async fn go_on<S: Snapshot>(
        &mut self,
        snapshot: &mut S,
        adopted: &mut Adopted,
    ) -> Result<bool> {
        let after = self.after.as_ref().map(RawBson::as_raw_bson_ref);
        let mut documents = Documents::after(&self.survey.policy.namespace, after);
        while let Some(row) = documents.next(snapshot).await? {
            let (row, need) = self.survey.need(snapshot, &row).await?;
            adopted.oversize += u64::from(need.is_over());
            if need.counters {
                self.stale.push(place::id(&row).into());
            }
            if self.is_late() || self.stale.len() >= STALE_DOCUMENTS_MAX {
                self.after = Some(place::id(&row).into());
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}
