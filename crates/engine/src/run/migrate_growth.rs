//! `migrateGrowth`: documents that are over the bounds of their policy brought
//! into them, a batch at a time. A dry run settles the same documents in transactions that are
//! never committed.

use super::writes::{DryRun, Writes};
use super::{Call, lookup};
use command::views::MigrateGrowth;
use command::{Reply, ReplyWriter};
use error::Result;
use guard::Policy;
use guard::adopt::no_policy;
use guard::migrate::Migration;
use std::borrow::Cow;
use write::statement::Statements as _;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let migrate = MigrateGrowth::parse(call.request)?;
    let guarded = call.engine.policies.get(&migrate.namespace);
    let policy: Cow<'_, Policy> = match (migrate.policy, &guarded) {
        (Some(policy), _) => {
            let policy = Policy::parse(&migrate.namespace, policy)?;
            call.engine.policies.current().check(&policy)?;
            Cow::Owned(policy.with_counted(false))
        }
        (None, Some(guarded)) => Cow::Borrowed(guarded.rules()?),
        (None, None) => return Err(no_policy(&migrate.namespace)),
    };
    if let Some(collection) = call.engine.registry.get(&migrate.namespace) {
        lookup::refuse_view(&collection)?;
    }
    let writes = Writes::of(call);
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
