//! `listCollections`.

use super::context::context;
use super::{Call, listing};
use crate::catalog::Collection;
use bson::{RawDocument, RawDocumentBuf};
use command::views::ListCollections;
use command::{Namespace, Reply};
use error::Result;
use language::query::Filter;
use value::DocumentWriter;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let list = ListCollections::parse(call.request)?;
    let filter = list.filter.map(parse).transpose()?;
    let catalog = call.engine.registry.current();
    let policies = &call.engine.policies;
    let mut documents = Vec::new();
    // Collections first, then views, each by name.
    for views in [false, true] {
        let kind = catalog.database(call.common.database).filter(|c| c.is_view() == views);
        for collection in kind.filter(|it| policies.is_listed(&it.namespace)) {
            let whole = describe(collection);
            if filter.as_ref().map_or(Ok(true), |filter| filter.matches(&whole))? {
                documents.push(if list.name_only { name_only(&whole) } else { whole });
            }
        }
    }
    let namespace = Namespace::new(call.common.database, "$cmd.listCollections")?;
    listing::reply(call, namespace, documents, list.batch_size)
}

fn parse(filter: &RawDocument) -> Result<Filter> {
    Filter::parse(filter, &context(None, None, None)?)
}

fn name_only(whole: &RawDocument) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    value::elements(whole).take(2).for_each(|element| writer.copy(element));
    writer.finish()
}

/// `{name, type, options, info, idIndex}`.
fn describe(collection: &Collection) -> RawDocumentBuf {
    let view = collection.is_view();
    let mut writer = DocumentWriter::new();
    writer.append_str("name", &collection.namespace.collection);
    writer.append_str("type", if view { "view" } else { "collection" });
    writer.append_document("options", &collection.options);
    writer.begin_document("info");
    writer.append_bool("readOnly", view);
    if !view {
        let uuid = bson::Binary::from(collection.uuid);
        writer.append("uuid", bson::RawBsonRef::Binary(uuid.as_raw_binary()));
    }
    writer.end();
    if let Some(index) = collection.id_index().filter(|_| !collection.is_clustered()) {
        writer.append_document("idIndex", &index.spec);
    }
    writer.finish()
}
