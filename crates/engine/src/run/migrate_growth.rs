//! `migrateGrowth`: documents that are over the bounds of their policy brought
//! into them, a batch at a time. A dry run settles the same documents in transactions that are
//! never committed. With `undo` it is the other way round: elements go back into their documents,
//! and the policy is left.

use super::{Call, lookup};
use crate::policies::leave::check_leaving;
use crate::writes::DryRun;
use command::views::MigrateGrowth;
use command::{Reply, ReplyWriter};
use error::Result;
use guard::Policy;
use guard::adopt::no_policy;
use guard::migrate::Migration;
use guard::restore::Restoration;
use std::borrow::Cow;
use write::statement::Statements as _;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let migrate = MigrateGrowth::parse(call.request)?;
    if let Some(collection) = call.engine.registry.get(&migrate.namespace) {
        lookup::refuse_view(&collection)?;
    }
    if migrate.undo {
        return undo(call, &migrate).await;
    }
    if !migrate.dry_run {
        stay(call, &migrate).await?;
    }
    let guarded = call.engine.policies.get(&migrate.namespace);
    let policy: Cow<'_, Policy> = match (migrate.policy, &guarded) {
        (Some(policy), _) => {
            let policy = Policy::parse(&migrate.namespace, policy)?;
            call.engine.policies.current().check(&policy)?;
            Cow::Owned(policy.with_counted(false))
        }
        (None, Some(guarded)) if migrate.dry_run => {
            Cow::Owned(guarded.rules()?.with_leaving(false))
        }
        (None, Some(guarded)) => Cow::Borrowed(guarded.rules()?),
        (None, None) => return Err(no_policy(&migrate.namespace)),
    };
    let writes = call.writes();
    let migration = Migration { policy: &policy, after: migrate.after, limit: migrate.limit };
    let batch = match migrate.dry_run {
        true => {
            let proposal = call.engine.proposal(&policy).await?;
            let source = DryRun { writes: &writes, proposal };
            migration.dry_run(&source, &|error| writes.of_statement(error)).await?
        }
        false => migration.run(&writes, &|error| writes.of_statement(error)).await?,
    };
    if !migrate.dry_run && batch.next.is_none() && !policy.is_counted() {
        let interrupt = &call.operation.interrupt;
        call.engine.adopt(&migrate.namespace, &writes, None, interrupt).await?;
    }
    writes.acknowledge(call.common.write_concern.as_ref()).await?;
    let mut reply = ReplyWriter::new();
    batch.write(reply.writer());
    Ok(lookup::finish(call, reply))
}

/// The first batch has a policy that was being left hold for all documents again.
async fn stay(call: Call<'_>, migrate: &MigrateGrowth<'_>) -> Result<()> {
    let Some(roles) = call.engine.policies.get(&migrate.namespace) else { return Ok(()) };
    match (roles.policy(), migrate.after) {
        (Some(_), None) => call.engine.mark_leaving(&migrate.namespace, false).await,
        (Some(policy), Some(_)) => check_leaving(policy, false),
        (None, _) => Ok(()),
    }
}

/// Restores a batch. The last one drops the policy, if it has no pages any more.
async fn undo(call: Call<'_>, migrate: &MigrateGrowth<'_>) -> Result<Reply> {
    let (engine, namespace) = (call.engine, &migrate.namespace);
    let writes = call.writes();
    let mut reply = ReplyWriter::new();
    if migrate.dry_run {
        let Some(guarded) = engine.policies.get(namespace) else {
            return Err(no_policy(namespace));
        };
        let policy = guarded.rules()?.with_leaving(true);
        let restoration =
            Restoration { policy: &policy, after: migrate.after, limit: migrate.limit };
        let source = DryRun { writes: &writes, proposal: engine.proposal(&policy).await? };
        let batch = restoration.dry_run(&source, &|error| writes.of_statement(error)).await?;
        batch.write(reply.writer());
        return Ok(lookup::finish(call, reply));
    }
    let after = migrate.after.map(bson::RawBson::from);
    let batch = engine.restore_batch(namespace, &writes, after, migrate.limit).await?;
    let mut dropped = None;
    if batch.next.is_none() {
        writes.applied().await?;
        dropped = Some(engine.drop_restored(namespace).await?);
    }
    writes.acknowledge(call.common.write_concern.as_ref()).await?;
    batch.write(reply.writer());
    if let Some(dropped) = dropped {
        reply.append("dropped", dropped);
    }
    Ok(lookup::finish(call, reply))
}
