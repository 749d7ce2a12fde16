//! `renameCollection`.

use super::{Call, lookup};
use command::views::RenameCollection;
use command::{Namespace, Reply, ReplyWriter};
use error::{Code, Result};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let rename = RenameCollection::parse(call.request)?;
    lookup::check_uuid(call, &rename.from, rename.collection_uuid)?;
    if rename.from.is_system() != rename.to.is_system() {
        return Err(Code::IllegalOperation.error(format!(
            "If either the source or target of a rename is a system collection, both must be: {} \
             and {}",
            rename.from, rename.to
        )));
    }
    if is_local(&rename.from) != is_local(&rename.to) {
        return Err(Code::IllegalOperation
            .error("Cannot rename collections between a replicated and an unreplicated database"));
    }
    if call.engine.registry.get(&rename.to).is_some_and(|target| target.is_view()) {
        return Err(Code::NamespaceExists
            .error(format!("a view already exists with that name: {}", rename.to)));
    }
    call.engine.rename(&rename.from, &rename.to, rename.drop_target).await?;
    Ok(lookup::finish(call, ReplyWriter::new()))
}

fn is_local(namespace: &Namespace) -> bool {
    &*namespace.database == "local"
}
