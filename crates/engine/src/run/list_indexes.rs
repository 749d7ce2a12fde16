//! `listIndexes`.

use super::{Call, listing, lookup};
use crate::catalog::Collection;
use bson::RawDocumentBuf;
use command::Reply;
use command::views::ListIndexes;
use error::Result;
use value::DocumentWriter;
use value::element::get;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let list = ListIndexes::parse(call.request)?;
    let collection = lookup::collection(call, &list.namespace)?;
    listing::reply(call, list.namespace, specs(&collection), list.batch_size)
}

/// The specifications of a collection's indexes. The order of a clustered
/// collection counts as its index on `_id`.
pub fn specs(collection: &Collection) -> Vec<RawDocumentBuf> {
    let own = collection.indexes.iter().skip(usize::from(collection.is_clustered()));
    let clustered = collection.is_clustered().then(|| clustered(collection));
    clustered.into_iter().chain(own.map(|index| index.spec.clone())).collect()
}

fn clustered(collection: &Collection) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    if let Some(index) = collection.clustered_index() {
        writer.copy_all(index);
    }
    if let Some(seconds) = get(&collection.options, "expireAfterSeconds") {
        writer.copy(seconds);
    }
    writer.append_bool("clustered", true);
    writer.finish()
}
