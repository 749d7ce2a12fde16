//! `migrateGrowth`: documents that are over the bounds of their policy brought
//! into them, a batch at a time. A dry run settles the same documents in a transaction that
//! is never committed.

mod rehearsal;

use super::writes::Writes;
use super::{Call, lookup};
use crate::policies::survey::SurveyView;
use command::views::MigrateGrowth;
use command::{Reply, ReplyWriter};
use error::{Code, Error, Result};
use guard::Policy;
use guard::adopt::{Aim, rehearse};
use guard::migrate::{Batch, Migration};
use rehearsal::Rehearsal;
use std::borrow::Cow;
use write::Backend as _;
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
        (None, None) => return Err(no_policy(&migrate)),
    };
    if let Some(collection) = call.engine.registry.get(&migrate.namespace) {
        lookup::refuse_view(&collection)?;
    }
    let writes = Writes::of(call);
    let migration = Migration { policy: &policy, after: migrate.after, limit: migrate.limit };
    let batch = match migrate.dry_run {
        true => dry_run(call, &migration, &writes).await?,
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

/// What a batch would do.
async fn dry_run(call: Call<'_>, migration: &Migration<'_>, writes: &Writes) -> Result<Batch> {
    let mut batch = Batch::default();
    let mut snapshot = writes.snapshot().await?;
    let work = migration.look(&mut snapshot, &mut batch).await?;
    let table = call.engine.policies.current();
    let namespace = &migration.policy.namespace;
    let SurveyView { catalog, view, interrupt } = snapshot;
    let collection = catalog.get(namespace).cloned();
    let survey =
        rehearsal::Survey { policy: migration.policy, catalog, collection, view, interrupt };
    let mut rehearsal = Rehearsal::new(&survey, &table, call.engine.store.secret())?;
    for id in work {
        rehearsal.clear();
        let settled = rehearse(&mut rehearsal, namespace, id.as_raw_bson_ref(), Aim::Bounds).await;
        batch.note(id, settled, &|error| writes.of_statement(error))?;
    }
    batch.entries = Some(rehearsal.entries);
    Ok(batch)
}

fn no_policy(migrate: &MigrateGrowth<'_>) -> Error {
    Code::BadValue.error(format!(
        "'{}' has no growth policy; set one with setGrowthPolicy or 'freeboard apply'",
        migrate.namespace
    ))
}
