//! Collections as administrative commands find them.

use super::Call;
use crate::catalog::Collection;
use bson::{RawBson, RawDocumentBuf, rawdoc};
use command::{Namespace, Reply, ReplyWriter, append_write_concern_error};
use error::{Code, Error, Result};
use std::sync::Arc;

/// The collection of a name, which must be there and be no view.
pub fn collection(call: Call<'_>, namespace: &Namespace) -> Result<Arc<Collection>> {
    let found = call.collection(namespace)?;
    let collection = found.ok_or_else(|| not_found(namespace))?;
    refuse_view(&collection)?;
    Ok(collection)
}

pub fn not_found(namespace: &Namespace) -> Error {
    Code::NamespaceNotFound.error(format!("ns does not exist: {namespace}"))
}

pub fn refuse_view(collection: &Collection) -> Result<()> {
    if collection.is_view() {
        return Err(Code::CommandNotSupportedOnView
            .error(format!("Namespace {} is a view, not a collection", collection.namespace)));
    }
    Ok(())
}

/// Checks `collectionUUID`, with which a client says which collection it means.
pub fn check_uuid(call: Call<'_>, namespace: &Namespace, uuid: Option<[u8; 16]>) -> Result<()> {
    let Some(uuid) = uuid.map(bson::Uuid::from_bytes) else { return Ok(()) };
    let catalog = call.catalog()?;
    let meant = catalog.database(&namespace.database).find(|collection| collection.uuid == uuid);
    if meant.is_some_and(|meant| meant.namespace == *namespace) {
        return Ok(());
    }
    let actual = meant.map_or(RawBson::Null, |meant| meant.namespace.collection.to_string().into());
    Err(Code::CollectionUUIDMismatch
        .error("Collection UUID does not match that specified")
        .detail("db", namespace.database.to_string())
        .detail("collectionUUID", bson::Binary::from(uuid))
        .detail("expectedCollection", namespace.collection.to_string())
        .detail("actualCollection", actual))
}

/// `{_id: 1}`.
pub fn id_key() -> RawDocumentBuf {
    rawdoc! { "_id": 1 }
}

/// The reply of a command that changed a definition. Such changes are always
/// synced; what one server cannot promise is said.
pub fn finish(call: Call<'_>, mut reply: ReplyWriter) -> Reply {
    if let Some(error) = super::writing::concern_error(call) {
        append_write_concern_error(reply.writer(), &error);
    }
    reply.finish()
}
