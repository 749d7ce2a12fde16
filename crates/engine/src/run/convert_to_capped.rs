//! `convertToCapped`: the documents stay where they are, but for the oldest, which go until the
//! rest fits.

use super::{Call, lookup};
use crate::catalog::Collection;
use bson::RawDocumentBuf;
use command::views::ConvertToCapped;
use command::{Namespace, Reply, ReplyWriter};
use error::{Code, Result};
use std::sync::Arc;
use value::{DocumentWriter, elements};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let ConvertToCapped { namespace, size } = ConvertToCapped::parse(call.request)?;
    source(call, &namespace)?;
    call.engine.cap(&namespace, |collection| options(collection, size)).await?;
    call.engine.trim_capped(&namespace, &call.operation.interrupt).await?;
    Ok(lookup::finish(call, ReplyWriter::new()))
}

/// The collection that is to be capped, or copied.
pub fn source(call: Call<'_>, namespace: &Namespace) -> Result<Arc<Collection>> {
    let Some(collection) = call.engine.registry.get(namespace) else {
        return Err(
            Code::NamespaceNotFound.error(format!("source collection {namespace} does not exist"))
        );
    };
    if collection.is_view() {
        return Err(Code::CommandNotSupportedOnView
            .error(format!("cloneCollectionAsCapped not supported for views: {namespace}")));
    }
    if collection.is_clustered() {
        return Err(Code::InvalidOptions
            .error(format!("{namespace} is a clustered collection, which cannot be capped")));
    }
    Ok(collection)
}

/// The options of a collection, with those of a capped one.
pub fn options(collection: &Collection, size: i64) -> RawDocumentBuf {
    let mut options = DocumentWriter::new();
    options.append_bool("capped", true);
    options.append_number("size", size);
    let kept = |name: &str| !["capped", "size", "max"].contains(&name);
    elements(&collection.options)
        .filter(|option| kept(option.key))
        .for_each(|option| options.copy(option));
    options.finish()
}
