//! `setGrowthPolicy`.

use super::{Call, blocking, lookup, reading};
use crate::catalog::Collection;
use command::views::SetGrowthPolicy;
use command::{Reply, ReplyWriter};
use error::Result;
use guard::Policy;
use language::Needs;
use std::ops::Bound;

/// Documents between two looks at the clock.
const DOCUMENTS_PER_LOOK: u64 = 128;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let set = SetGrowthPolicy::parse(call.request)?;
    let mut reply = ReplyWriter::new();
    if set.dry_run {
        call.engine.policies.current().check(&Policy::parse(&set.namespace, set.policy)?)?;
    } else {
        let version = call.engine.set_policy(&set.namespace, set.policy).await?;
        reply.append("version", version);
    }
    let policy = Policy::parse(&set.namespace, set.policy)?;
    let oversize = match call.engine.registry.get(&set.namespace) {
        Some(collection) => blocking(|| oversize(call, &policy, &collection))?,
        None => 0,
    };
    reply.append("oversize", i32::try_from(oversize).unwrap_or(i32::MAX));
    Ok(lookup::finish(call, reply))
}

/// How many documents are over some bound of the policy.
fn oversize(call: Call<'_>, policy: &Policy, collection: &Collection) -> Result<u64> {
    let view = reading::view(call)?;
    let needs = match policy.undeclared {
        guard::policy::Undeclared::Allow => {
            Needs::Paths(policy.arrays.iter().map(|rule| rule.path.clone()).collect())
        }
        _ => Needs::All,
    };
    let (mut seen, mut oversize) = (0, 0);
    for record in view.records(collection.id, (Bound::Unbounded, Bound::Unbounded)) {
        if seen % DOCUMENTS_PER_LOOK == 0 {
            call.operation.interrupt.check()?;
        }
        seen += 1;
        let (_, record) = record?;
        let document = record.load(&view, &needs)?;
        oversize += u64::from(guard::patterns::is_oversize(policy, &document, record.size()));
    }
    Ok(oversize)
}
