//! Documents that were there before their policy: counted where they are over its
//! bounds, and freed of fields that only look like its counters.

use super::survey::Survey;
use crate::Engine;
use crate::define::Definition;
use crate::plan::Interrupt;
use crate::run::writes::Writes;
use bson::{RawBson, RawBsonRef};
use command::Namespace;
use error::{Error, Result};
use guard::adopt::{Aim, settle};
use guard::{Lease, Policy, policies_of};
use language::Needs;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use value::element::get_value;
use value::{DocumentWriter, elements};
use write::Transaction as _;

/// How long setting a policy looks for documents over its bounds.
pub const LOOK_MAX: Duration = Duration::from_secs(10);
/// Documents with wrong counters that are put right between two looks.
const STALE_DOCUMENTS_MAX: usize = 1_000;

/// What was found in a collection.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Documents over some bound, as far as was looked.
    pub oversize: u64,
    /// Whether all documents were looked at.
    pub complete: bool,
}

/// Where a look over a collection has come to.
#[derive(Default)]
struct Look {
    /// The `_id` of the last document looked at.
    after: Option<RawBson>,
    oversize: u64,
    stale: Vec<RawBson>,
    /// Whether some document's counters could not be put right.
    unsettled: bool,
    until: Option<Instant>,
}

impl Look {
    /// Goes on until it has enough to do, or its time is up; true at the end.
    fn go_on(&mut self, survey: &Survey<'_>) -> Result<bool> {
        let after = self.after.take();
        survey.each(after.as_ref().map(RawBson::as_raw_bson_ref), &mut |document, need| {
            self.oversize += u64::from(need.is_over());
            if need.counters {
                self.stale.extend(get_value(document, "_id").map(RawBson::from));
            }
            match self.is_late() || self.stale.len() >= STALE_DOCUMENTS_MAX {
                true => {
                    self.after = get_value(document, "_id").map(RawBson::from);
                    ControlFlow::Break(())
                }
                false => ControlFlow::Continue(()),
            }
        })
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

impl Engine {
    /// Counts the documents over a policy's bounds, and changes nothing.
    pub fn count_oversize(
        &self,
        policy: &Policy,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Result<Adopted> {
        let Some(survey) = self.survey(policy, interrupt) else {
            return Ok(Adopted { oversize: 0, complete: true });
        };
        let mut look = Look { until: Some(Instant::now() + limit), ..Look::default() };
        loop {
            let through = look.go_on(&survey)?;
            look.stale.clear();
            if through || look.is_late() {
                return Ok(Adopted { oversize: look.oversize, complete: through });
            }
        }
    }

    /// Counts the documents over the bounds of a collection's policy. Fields that
    /// are called as its counters and are older than it are put right; once all
    /// are, counters are trusted. With a limit, one who is asked to stop has had his
    /// time: the policy is set, and what was found by then is told.
    pub async fn adopt(
        self: &Arc<Self>,
        namespace: &Namespace,
        writes: &Writes,
        limit: Option<Duration>,
        interrupt: &Interrupt,
    ) -> Result<Adopted> {
        let Some(guarded) = self.policies.get(namespace) else { return Ok(Adopted::default()) };
        let policy = guarded.rules()?;
        let until = limit.map(|limit| Instant::now() + limit);
        let mut look = Look { until, ..Look::default() };
        let is_stop =
            |error: &Error| interrupt.check().is_err_and(|stopped| stopped.code() == error.code());
        let through = match self.settle_counters(policy, writes, &mut look, interrupt).await {
            Err(error) if limit.is_some() && is_stop(&error) => false,
            through => through?,
        };
        if through && !look.unsettled && !policy.is_counted() {
            writes.applied().await?;
            match self.trust_counters(namespace, &guarded).await {
                Err(error) if limit.is_some() && is_stop(&error) => {}
                trusted => trusted?,
            }
        }
        Ok(Adopted { oversize: look.oversize, complete: through })
    }

    /// Looks over a collection and puts counters right on the way; true at the end.
    async fn settle_counters(
        &self,
        policy: &Policy,
        writes: &Writes,
        look: &mut Look,
        interrupt: &Interrupt,
    ) -> Result<bool> {
        let namespace = &policy.namespace;
        let Some(survey) = self.survey(policy, interrupt) else { return Ok(true) };
        loop {
            let through = turn::aside(|| look.go_on(&survey))?;
            for id in std::mem::take(&mut look.stale) {
                let id = id.as_raw_bson_ref();
                if let Err(error) = settle(writes, namespace, id, Aim::Counters).await {
                    interrupt.check()?;
                    look.unsettled = true;
                    let id = value::text::value(id);
                    tracing::warn!(%namespace, id, %error, "a document's counters stay wrong");
                }
            }
            if through || look.is_late() {
                return Ok(through);
            }
        }
    }

    /// The documents of a policy's collection as they are now.
    fn survey<'a>(&self, policy: &'a Policy, interrupt: &Interrupt) -> Option<Survey<'a>> {
        let catalog = self.registry.current();
        let collection = catalog.get(&policy.namespace)?.clone();
        let (view, interrupt) = (self.store.view(), interrupt.clone());
        let collection = Some(collection);
        Some(Survey { policy, catalog, collection, view, interrupt, costs: false })
    }

    /// From now on the counters of a collection are trusted, unless its policy is
    /// another by now.
    async fn trust_counters(
        self: &Arc<Self>,
        namespace: &Namespace,
        guarded: &Lease,
    ) -> Result<()> {
        let policy = guarded.rules()?;
        let mut gates: Vec<&Namespace> = policy.overflows().map(|it| &it.into).collect();
        let home = policies_of(&namespace.database);
        gates.extend([namespace, &home]);
        let mut definition = Definition::begin(self, &gates).await?;
        let current = self.policies.current();
        if !Lease::is_same(current.get(namespace), Some(guarded)) {
            return Ok(());
        }
        let mut transaction = definition.transaction(&home);
        let id = RawBsonRef::String(&namespace.collection);
        if let Some(row) = transaction.get(&home, id, &Needs::All).await? {
            let mut stored = DocumentWriter::new();
            let kept = elements(&row).filter(|field| field.key != "counted");
            kept.for_each(|field| stored.copy(field));
            transaction.replace(&home, &row, &stored.finish(), write::Cause::UNKNOWN).await?;
        }
        definition.policies = Some(current.with(policy.with_counted(true)));
        definition.commit_with(transaction).await
    }
}
