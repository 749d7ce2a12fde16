//! Policies that are left: what is in pages goes back into the documents, and then the policy
//! goes with what it has kept.

use super::provide::PolicyChange;
use crate::Engine;
use crate::writes::Writes;
use bson::RawBsonRef;
use command::Namespace;
use error::{Code, Error, Result};
use guard::adopt::no_policy;
use guard::restore::{Restoration, RestoredBatch};
use guard::{LEAVING, Policy, policies_of};
use language::Needs;
use std::sync::Arc;
use value::{DocumentWriter, elements};
use write::Transaction as _;
use write::limits::DOCUMENT_BYTES_MAX;
use write::statement::Statements as _;

/// Documents that are restored between two looks for the next ones.
const BATCH_DOCUMENTS: usize = 1_000;

/// Passes over the collection. What a pass has not come to, or has failed at, the next one may
/// restore; what cannot be restored stays.
const PASSES_MAX: usize = 5;

/// How far a policy has been left.
#[derive(Debug)]
pub enum Left {
    /// It is gone, and so are its pages.
    Whole,
    /// It stays for some documents, for this reason.
    Partly(String),
}

impl Left {
    /// As replies have it.
    pub fn write(&self, out: &mut DocumentWriter) {
        out.append_bool("dropped", matches!(self, Left::Whole));
        if let Left::Partly(why) = self {
            out.append_str("reason", why);
        }
    }
}

impl Engine {
    /// Puts everything back that a policy has moved to pages, and drops the policy: as many
    /// passes over the collection as it takes, up to a few.
    pub async fn restore_policy(
        self: &Arc<Self>,
        namespace: &Namespace,
        writes: &Writes,
    ) -> Result<(RestoredBatch, Left)> {
        let mut all = RestoredBatch::default();
        for _ in 0..PASSES_MAX {
            let documents = all.documents;
            all.begin_pass();
            loop {
                let batch = self.restore_batch(namespace, writes, all.next.take(), BATCH_DOCUMENTS);
                all.add(batch.await?);
                if all.next.is_none() {
                    break;
                }
            }
            writes.applied().await?;
            if self.drop_restored(namespace).await? {
                return Ok((all, Left::Whole));
            }
            if all.documents == documents {
                let why = stays(namespace, &all);
                return Ok((all, Left::Partly(why)));
            }
        }
        let why = format!(
            "the policy of '{namespace}' stays: after {PASSES_MAX} passes there were still \
             documents to restore, and pages; begin again"
        );
        Ok((all, Left::Partly(why)))
    }

    /// Restores the next documents of a collection. The first batch begins to leave the policy.
    pub async fn restore_batch(
        self: &Arc<Self>,
        namespace: &Namespace,
        writes: &Writes,
        after: Option<bson::RawBson>,
        limit: usize,
    ) -> Result<RestoredBatch> {
        if after.is_none() {
            self.mark_leaving(namespace, true).await?;
        }
        // Another client may have come to the end of it.
        let guarded = self.policies.get(namespace).filter(|roles| roles.has_policy());
        let Some(guarded) = guarded else { return Ok(RestoredBatch::default()) };
        let policy = guarded.rules()?;
        check_leaving(policy, true)?;
        let after = after.as_ref().map(bson::RawBson::as_raw_bson_ref);
        let restoration = Restoration { policy, after, limit };
        let failed = |error: Error| match error.code() {
            Code::ConflictingOperationInProgress => Err(error),
            _ => writes.of_statement(error),
        };
        restoration.run(writes, &failed).await
    }

    /// Begins to leave a policy, or has it hold again for all documents.
    pub async fn mark_leaving(
        self: &Arc<Self>,
        namespace: &Namespace,
        leaving: bool,
    ) -> Result<()> {
        let is_so = |policy: &Policy| policy.leaving == leaving;
        let Some(guarded) = self.policies.get(namespace) else { return Err(no_policy(namespace)) };
        if guarded.rules().map(is_so)? {
            return Ok(());
        }
        let PolicyChange { mut definition, old } = self.hold_for(namespace, None).await?;
        let Some(old) = old.filter(|_| self.policies.current().policy(namespace).is_some()) else {
            return Err(no_policy(namespace));
        };
        if is_so(&old) {
            return Ok(());
        }
        let home = policies_of(&namespace.database);
        let mut transaction = definition.transaction(&home);
        let id = RawBsonRef::String(&namespace.collection);
        if let Some(row) = transaction.get(&home, id, &Needs::All).await? {
            let mut stored = DocumentWriter::new();
            let kept = elements(&row).filter(|field| field.key != LEAVING);
            kept.for_each(|field| stored.copy(field));
            if leaving {
                stored.append_bool(LEAVING, true);
            }
            let stored = stored.finish();
            transaction.replace(&home, &row, (&stored).into(), write::Cause::UNKNOWN).await?;
        }
        definition.policies = Some(self.policies.current().with(old.with_leaving(leaving)));
        definition.commit_with(transaction).await
    }

    /// Drops a policy that is being left and has no pages any more; false if it has some.
    pub async fn drop_restored(self: &Arc<Self>, namespace: &Namespace) -> Result<bool> {
        let PolicyChange { definition, old } = self.hold_for(namespace, None).await?;
        let Some(policy) = &old else { return Ok(true) };
        check_leaving(policy, true)?;
        for overflow in policy.overflows() {
            if self.holds_documents(&overflow.into)? {
                return Ok(false);
            }
        }
        self.drop_held(namespace, PolicyChange { definition, old }).await.map(|()| true)
    }
}

/// Refuses a policy that has been set again since it was begun to be left, or the other way
/// round.
pub fn check_leaving(policy: &Policy, leaving: bool) -> Result<()> {
    let namespace = &policy.namespace;
    let why = match (policy.leaving, leaving) {
        (false, true) => "has been set again while it was being left",
        (true, false) => "is being left by another client",
        _ => return Ok(()),
    };
    Err(Code::ConflictingOperationInProgress
        .error(format!("the policy of '{namespace}' {why}; begin again without 'after'")))
}

/// Why a policy stays.
fn stays(namespace: &Namespace, found: &RestoredBatch) -> String {
    let documents = |number| match number {
        1 => "1 document".to_owned(),
        number => format!("{number} documents"),
    };
    let mut why = Vec::new();
    if found.too_large > 0 {
        why.push(format!(
            "{} would be larger than {DOCUMENT_BYTES_MAX} bytes with all elements, so that pages \
             stay: shorten these arrays, or set the policy again with setGrowthPolicy to keep it",
            documents(found.too_large)
        ));
    }
    if found.failures > 0 {
        why.push(format!("{} could not be restored", documents(found.failures)));
    }
    if why.is_empty() {
        why.push(
            "there are pages of documents that are not there: 'freeboard verify --repair' removes \
             them"
                .to_owned(),
        );
    }
    format!("the policy of '{namespace}' stays: {}", why.join("; "))
}
