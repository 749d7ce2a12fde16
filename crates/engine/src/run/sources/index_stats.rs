//! `$indexStats`.

use crate::run::{Call, lookup};
use bson::{RawBsonRef, RawDocumentBuf};
use command::Namespace;
use error::Result;
use value::DocumentWriter;

/// One document an index; none for a collection that is not there.
pub fn documents(call: Call<'_>, namespace: &Namespace) -> Result<Vec<RawDocumentBuf>> {
    let Some(collection) = call.engine.registry.get(namespace) else { return Ok(Vec::new()) };
    lookup::refuse_view(&collection)?;
    let host = call.engine.identity().host_and_port();
    let describe = |index: &std::sync::Arc<crate::catalog::Index>| {
        let mut out = DocumentWriter::new();
        out.append_str("name", &index.name);
        out.append_document("key", index.key_pattern());
        out.append_str("host", &host);
        out.begin_document("accesses");
        out.append_i64("ops", index.accesses.count() as i64);
        out.append("since", RawBsonRef::DateTime(index.accesses.since));
        out.end();
        out.append_document("spec", &index.spec);
        if !index.ready {
            out.append_bool("building", true);
        }
        out.finish()
    };
    let listed = collection.indexes.iter().skip(usize::from(collection.is_clustered()));
    Ok(listed.map(describe).collect())
}
