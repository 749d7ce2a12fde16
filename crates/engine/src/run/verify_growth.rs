//! `verifyGrowth`: everything a policy has kept of a collection, counted once more and
//! compared: counters, flags, pages, indexes and views. With `repair`, what can be
//! repaired safely is, a transaction a document.

use super::{Call, lookup};
use crate::Engine;
use crate::operation::WorkProgress;
use crate::policies;
use crate::writes::Writes;
use command::views::VerifyGrowth;
use command::{Namespace, Reply, ReplyWriter};
use error::{Code, Error, Result};
use guard::verify::{Check, Repairing};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use write::Transactions as _;
use write::statement::Statements as _;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let verify = VerifyGrowth::parse(call.request)?;
    let guarded = call.engine.policies.get(&verify.namespace);
    if let Some(of) = guarded.as_ref().and_then(|roles| roles.pages_of.as_ref()) {
        return Err(Code::BadValue.error(format!(
            "'{}' holds the pages of '{of}'; verify '{of}' instead",
            verify.namespace
        )));
    }
    let policy = match &guarded {
        Some(roles) if roles.has_policy() => roles.rules()?,
        _ => {
            return Err(Code::BadValue
                .error(format!("'{}' has no growth policy to verify", verify.namespace)));
        }
    };
    let writes = call.writes();
    // Its pages are looked at even where it is not there itself.
    let mut snapshot = writes.snapshot().await?;
    let collection = snapshot.catalog.get(&verify.namespace);
    collection.map_or(Ok(()), |collection| lookup::refuse_view(collection))?;
    let (interrupt, what) = (call.operation.interrupt.clone(), Some("Verification"));
    let progress = Arc::new(WorkProgress { interrupt, what, ..WorkProgress::default() });
    // `currentOp` shows it.
    let _ = call.operation.progress.set(progress.clone());
    let report = |done, total| {
        progress.total.store(total, Ordering::Relaxed);
        progress.done.store(done, Ordering::Relaxed);
    };
    let mut check = Check::new(policies::missing(policy, &snapshot.catalog));
    check.look(policy, &mut snapshot, &report).await?;
    drop(snapshot);
    if verify.repair {
        let repair = Repair { engine: call.engine, writes: &writes };
        check.repair(&writes, &verify.namespace, &repair).await?;
        if !policy.is_counted() {
            let interrupt = &call.operation.interrupt;
            call.engine.adopt(&verify.namespace, &writes, None, interrupt).await?;
        }
        writes.acknowledge(call.common.write_concern.as_ref()).await?;
    }
    let mut reply = ReplyWriter::new();
    reply.append("ns", &*verify.namespace.to_string());
    check.write(reply.writer());
    Ok(lookup::finish(call, reply))
}

struct Repair<'a> {
    engine: &'a Arc<Engine>,
    writes: &'a Writes,
}

impl Repairing for Repair<'_> {
    async fn provide(&self, namespace: &Namespace) -> Result<()> {
        self.engine.remake_pages(namespace).await
    }

    fn failed(&self, error: Error) -> Result<Error> {
        self.writes.of_statement(error)
    }
}
