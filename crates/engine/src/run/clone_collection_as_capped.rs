//! `cloneCollectionAsCapped`.

use super::aggregate::next_batch;
use super::convert_to_capped::{options, source};
use super::{Call, lookup, reading};
use crate::catalog::{Collection, NewCollection};
use crate::plan::{self, Query, Scan, Sort};
use bson::RawDocumentBuf;
use command::views::CloneCollectionAsCapped;
use command::{Namespace, Reply, ReplyWriter};
use error::{Code, Result};
use language::Context;
use language::aggregate::Documents;
use language::query::Filter;
use std::sync::Arc;
use write::Insert;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let clone = CloneCollectionAsCapped::parse(call.request)?;
    let (from, to) = (&clone.from, &clone.to);
    let collection = source(call, from)?;
    check_whole(call, from)?;
    to.check_write()?;
    if call.engine.registry.get(to).is_some() {
        return Err(Code::NamespaceExists.error(format!(
            "cloneCollectionAsCapped failed - destination collection {to} already exists. source \
             collection: {from}"
        )));
    }
    call.engine.policies.check_definition(to)?;
    let options = options(&collection, clone.size);
    call.engine.create(NewCollection { namespace: to, options: &options, view: false }).await?;
    if let Err(error) = copy(call, &collection, to).await {
        call.engine.drop_collection(to).await?;
        return Err(error);
    }
    Ok(lookup::finish(call, ReplyWriter::new()))
}

/// Refuses documents whose arrays are in part elsewhere: the copy would have their heads, and
/// counts of what it does not have.
fn check_whole(call: Call<'_>, from: &Namespace) -> Result<()> {
    let table = call.engine.policies.current();
    let overflow = table.policy(from).and_then(|policy| policy.overflows().next());
    match overflow {
        None => Ok(()),
        Some(overflow) => Err(Code::OperationFailed.error(format!(
            "cloneCollectionAsCapped copies documents as they are stored, and elements of the \
             array '{}' of {from} may be in its pages '{}', which a copy would lack; expected a \
             collection whose arrays do not overflow",
            overflow.path, overflow.into
        ))),
    }
}

/// Copies the documents in natural order; the oldest make room for the newest.
async fn copy(call: Call<'_>, from: &Arc<Collection>, to: &Namespace) -> Result<()> {
    let filter = Filter::parse(&RawDocumentBuf::new(), &Context::new())?;
    let mut query = Query::new(Arc::new(filter));
    query.sort = Sort::Natural(Scan::Forward);
    let interrupt = call.operation.interrupt.clone();
    let rows = plan::open(from, query, reading::view(call)?, interrupt)?;
    let mut documents: Documents = Box::new(rows.map(|row| Ok(row?.document.into())));
    let writes = call.writes();
    loop {
        let batch = next_batch(&mut documents)?;
        if batch.is_empty() {
            return writes.acknowledge(call.common.write_concern.as_ref()).await;
        }
        let documents = batch.borrowed();
        write::insert(&writes, Insert::own(to, &documents), |_, error| Err(error)).await?;
    }
}
