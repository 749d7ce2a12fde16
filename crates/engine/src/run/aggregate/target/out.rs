//! `$out`: the documents are written into a collection of their own, which then
//! takes the target's place.

use super::{Call, next_batch};
use crate::catalog::{NewCollection, TEMPORARY_PREFIX};
use crate::operation::WorkProgress;
use crate::policies::out::Temporary;
use bson::RawDocumentBuf;
use command::Namespace;
use command::views::Aggregate;
use error::{Code, Result};
use language::aggregate::Documents;
use write::Insert;

pub async fn write(
    call: Call<'_>,
    aggregate: &Aggregate<'_>,
    into: &Namespace,
    documents: Documents,
) -> Result<()> {
    if call.engine.registry.get(into).is_some_and(|into| into.is_capped()) {
        return Err(Code::location(17152)
            .error(format!("namespace '{into}' is capped so it can't be used for $out")));
    }
    let name = format!("{TEMPORARY_PREFIX}{}", bson::Uuid::new());
    let temporary = Namespace::new(&into.database, &name)?;
    let temporary = call.engine.guard_temporary(temporary, into).await?;
    let outcome = match fill(call, aggregate, into, &temporary, documents).await {
        Ok(()) => call.engine.take_place(&temporary).await,
        Err(error) => Err(error),
    };
    if outcome.is_err() {
        call.engine.drop_temporary(&temporary).await?;
    }
    outcome
}

/// Makes the temporary collection, with the target's options and indexes, and
/// writes the documents into it.
async fn fill(
    call: Call<'_>,
    aggregate: &Aggregate<'_>,
    into: &Namespace,
    temporary: &Temporary,
    mut documents: Documents,
) -> Result<()> {
    let target = call.engine.registry.get(into);
    let nothing = RawDocumentBuf::new();
    let options = target.as_ref().map_or(&nothing, |target| &target.options);
    let namespace = &temporary.namespace;
    call.engine.create(NewCollection { namespace, options, view: false }).await?;
    let specs: Vec<RawDocumentBuf> = match &target {
        Some(target) => target.indexes.iter().skip(1).map(|index| index.spec.clone()).collect(),
        None => Vec::new(),
    };
    if !specs.is_empty() {
        call.engine.create_indexes(namespace, &specs, &WorkProgress::default()).await?;
    }
    let writes = call.writes();
    loop {
        let batch = next_batch(&mut documents)?;
        if batch.is_empty() {
            break;
        }
        let documents = batch.borrowed();
        let checked = call.engine.check_out(temporary, &documents);
        checked.map_err(|error| error.context("PlanExecutor error during aggregation"))?;
        let bypass_validation = aggregate.bypass_validation;
        let insert = Insert { bypass_validation, ..Insert::own(namespace, &documents) };
        write::insert(&writes, insert, |_, error| {
            Err(error.context("PlanExecutor error during aggregation"))
        })
        .await?;
    }
    writes.acknowledge(call.common.write_concern.as_ref()).await
}
