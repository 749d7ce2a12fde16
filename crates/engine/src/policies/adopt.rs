//! Documents that were there before their policy: counted where they are over its
//! bounds, and freed of fields that only look like its counters.

use crate::Engine;
use crate::define::Definition;
use crate::plan::Interrupt;
use crate::writes::Writes;
use bson::RawBsonRef;
use command::Namespace;
use error::{Error, Result};
use guard::adopt::{Adopted, settle_counters};
use guard::{Lease, policies_of};
use language::Needs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use value::{DocumentWriter, elements};
use write::Transaction as _;

/// How long setting a policy looks for documents over its bounds.
pub const LOOK_MAX: Duration = Duration::from_secs(10);

impl Engine {
    /// Counts the documents over the bounds of a collection's policy. Fields that
    /// are called as its counters and are older than it are put right; once all
    /// are, counters are trusted. With a limit, an interrupt is no
    /// failure: the policy is set, and what was found by then is reported.
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
        let is_stop =
            |error: &Error| interrupt.check().is_err_and(|stopped| stopped.code() == error.code());
        let failed = |error| interrupt.check().map(|()| error);
        let mut adopted = Adopted::default();
        match settle_counters(writes, policy, until, &mut adopted, &failed).await {
            Err(error) if limit.is_some() && is_stop(&error) => {}
            settled => settled?,
        }
        if adopted.complete && !adopted.unsettled && !policy.is_counted() {
            writes.applied().await?;
            match self.trust_counters(namespace, &guarded).await {
                Err(error) if limit.is_some() && is_stop(&error) => {}
                trusted => trusted?,
            }
        }
        Ok(adopted)
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
            transaction
                .replace(&home, &row, (&stored.finish()).into(), write::Cause::UNKNOWN)
                .await?;
        }
        definition.policies = Some(current.with(policy.with_counted(true)));
        definition.commit_with(transaction).await
    }
}
