//! `setGrowthPolicy`.

use super::{Call, figures, lookup};
use crate::policies::adopt::LOOK_MAX;
use command::views::SetGrowthPolicy;
use command::{Reply, ReplyWriter};
use error::Result;
use guard::Policy;
use guard::adopt::count_oversize;
use std::time::Instant;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let set = SetGrowthPolicy::parse(call.request)?;
    let interrupt = &call.operation.interrupt;
    let mut reply = ReplyWriter::new();
    let mut is_counted = true;
    let adopted = if set.dry_run {
        let policy = Policy::parse(&set.namespace, set.policy)?;
        call.engine.check_policy(&policy)?;
        if !set.count {
            return Ok(lookup::finish(call, reply));
        }
        count_oversize(&call.writes(), &policy, Instant::now() + LOOK_MAX).await?
    } else {
        let engine = call.engine;
        let (writes, concern) = (call.writes(), call.common.write_concern.as_ref());
        let introduced =
            engine.introduce(&set.namespace, set.policy, &writes, concern, interrupt).await?;
        let (version, adopted) = introduced;
        reply.append("version", version);
        let table = engine.policies.current();
        is_counted = table.policy(&set.namespace).is_none_or(Policy::is_counted);
        adopted
    };
    figures::append(reply.writer(), "oversize", adopted.oversize);
    if !adopted.complete {
        // There was no time to look at all documents: there may be more.
        reply.append("atLeast", true);
    }
    if !is_counted {
        // Some documents may hold fields that only look like the policy's counters.
        reply.append("counted", false);
    }
    Ok(lookup::finish(call, reply))
}
