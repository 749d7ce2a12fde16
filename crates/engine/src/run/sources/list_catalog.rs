//! `$listCatalog`.

use crate::catalog::Collection;
use crate::run::Call;
use bson::{RawBsonRef, RawDocumentBuf};
use command::Namespace;
use error::Result;
use value::DocumentWriter;
use value::element::{elements, get};

/// One document a collection or view: of all, or of the one that is named.
pub fn documents(call: Call<'_>, namespace: &Namespace) -> Result<Vec<RawDocumentBuf>> {
    let catalog = call.engine.registry.current();
    if namespace.is_collectionless() {
        return Ok(catalog.all().map(|collection| describe(collection)).collect());
    }
    Ok(catalog.get(namespace).map(|collection| describe(collection)).into_iter().collect())
}

fn describe(collection: &Collection) -> RawDocumentBuf {
    let namespace = &collection.namespace;
    let mut out = DocumentWriter::new();
    out.append_str("db", &namespace.database);
    out.append_str("name", &namespace.collection);
    out.append_str("type", if collection.is_view() { "view" } else { "collection" });
    out.append_str("ns", &namespace.to_string());
    if collection.is_view() {
        out.append_str("_id", &namespace.to_string());
        elements(&collection.options).for_each(|option| out.copy(option));
        return out.finish();
    }
    let uuid = bson::Binary::from(collection.uuid);
    let uuid = RawBsonRef::Binary(uuid.as_raw_binary());
    out.begin_document("md");
    out.append_str("ns", &namespace.to_string());
    out.begin_document("options");
    out.append("uuid", uuid);
    elements(&collection.options).for_each(|option| out.copy(option));
    out.end();
    out.begin_array("indexes");
    for index in &collection.indexes {
        out.begin_next_document();
        out.append_document("spec", &index.spec);
        out.append_bool("ready", index.ready);
        out.append_bool("multikey", index.multikey.any());
        out.end();
    }
    out.end();
    out.end();
    if let Some(index) = get(&collection.options, "clusteredIndex") {
        out.copy(index);
    }
    out.finish()
}
