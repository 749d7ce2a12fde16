//! Indexes made, altered, dropped.

use super::build::Build;
use super::{Definition, Progress};
use crate::Engine;
use crate::catalog::{Collection, Index};
use crate::changes;
use crate::storage::IndexId;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};
use std::sync::Arc;
use value::Element;
use value::element::get;

/// The most indexes a collection may have.
pub const INDEXES_MAX: usize = 64;

/// What `createIndexes` did.
#[derive(Debug)]
pub struct Created {
    pub before: usize,
    pub after: usize,
    pub created_collection: bool,
}

impl Engine {
    /// Makes indexes from checked specifications `{v, key, name, …}`. Those that
    /// are there already are left alone; all others are made, or none.
    pub async fn create_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
        progress: &Progress,
    ) -> Result<Created> {
        let created_collection = self.registry.get(namespace).is_none();
        let collection = self.ensure(namespace).await?;
        let before = collection.indexes.len();
        let after = self.add_indexes(&collection, specs, progress).await?;
        Ok(Created { before, after, created_collection })
    }

    /// The same for a collection that must not be made if it is gone; how many indexes it
    /// has then.
    pub async fn add_indexes(
        self: &Arc<Self>,
        collection: &Collection,
        specs: &[RawDocumentBuf],
        progress: &Progress,
    ) -> Result<usize> {
        let namespace = &collection.namespace;
        if missing(collection, specs)?.is_empty() {
            return Ok(collection.indexes.len());
        }
        let names = self.register(namespace, specs).await?;
        if names.is_empty() {
            return Ok(collection.indexes.len());
        }
        let built = Build { engine: self, namespace, names: &names, progress }.run().await;
        if let Err(error) = built {
            self.remove_indexes(namespace, &names).await?;
            return Err(error);
        }
        self.mark_ready(namespace, &names).await
    }

    /// Adds the indexes to the definition: written to from now on, not yet read.
    async fn register(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
    ) -> Result<Vec<String>> {
        let mut definition = Definition::begin(self, &[namespace]).await?;
        self.policies.check_indexes(namespace, specs.iter().map(|spec| &**spec))?;
        let names = definition.add_indexes(namespace, specs, false)?;
        definition.commit().await?;
        Ok(names)
    }

    /// Has built indexes read. One that is asked to stop would have to wait as long to be rid
    /// of them.
    async fn mark_ready(
        self: &Arc<Self>,
        namespace: &Namespace,
        names: &[String],
    ) -> Result<usize> {
        let mut definition = Definition::begin_at_any_rate(self, &[namespace]).await;
        let collection = current(&definition, namespace)?;
        let ready = |index: &Arc<Index>| match names.contains(&index.name) {
            true => index.altered(&index.spec, true).map(Arc::new),
            false => Ok(index.clone()),
        };
        let indexes = collection.indexes.iter().map(ready).collect::<Result<Vec<_>>>()?;
        let count = indexes.len();
        definition.put(Arc::new(collection.with_indexes(indexes)));
        definition.tell_indexes(namespace, names);
        definition.commit().await?;
        Ok(count)
    }

    /// Drops indexes by name; those that are not there are passed over. They are half built, or
    /// mirror indexes that are gone: whoever is stopped here leaves what nobody asks for again.
    pub async fn remove_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        names: &[String],
    ) -> Result<()> {
        let mut definition = Definition::begin_at_any_rate(self, &[namespace]).await;
        definition.remove_indexes(namespace, names);
        definition.commit().await
    }

    /// The same for a client, who leaves those alone that a policy needs.
    pub async fn drop_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        names: &[String],
    ) -> Result<()> {
        let mut definition = Definition::begin(self, &[namespace]).await?;
        if let Some(collection) = definition.catalog.get(namespace) {
            self.check_index_drop(collection, names)?;
        }
        definition.remove_indexes(namespace, names);
        definition.commit().await
    }

    /// Gives an index another specification with the same keys, if it is still what it was
    /// when that was made.
    pub async fn alter_index(
        self: &Arc<Self>,
        namespace: &Namespace,
        altered: &Arc<Index>,
        spec: &RawDocument,
    ) -> Result<()> {
        let mut definition = Definition::begin_for_client(self, &[namespace]).await?;
        self.policies.check_indexes(namespace, [spec].into_iter())?;
        definition.alter_index(namespace, altered, spec)?;
        definition.commit().await
    }

    /// Drops indexes whose build a crash has cut off: nobody was told of them.
    pub(crate) async fn drop_unfinished_indexes(self: &Arc<Self>) -> Result<()> {
        for collection in self.registry.current().all() {
            let unfinished: Vec<_> = collection
                .indexes
                .iter()
                .filter(|index| !index.ready)
                .map(|index| index.name.clone())
                .collect();
            if !unfinished.is_empty() {
                tracing::warn!(namespace = %collection.namespace, indexes = ?unfinished,
                    "dropping indexes whose build was cut off");
                self.remove_indexes(&collection.namespace, &unfinished).await?;
            }
        }
        Ok(())
    }
}

impl Definition<'_> {
    /// Adds those of the indexes that are not there, and gives back their names. They are ready
    /// at once in a collection that holds nothing.
    pub fn add_indexes(
        &mut self,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
        ready: bool,
    ) -> Result<Vec<String>> {
        let collection = current(self, namespace)?;
        let specs = missing(&collection, specs)?;
        check_room(&collection, &specs)?;
        let mut indexes = collection.indexes.clone();
        let first = self.take_ids(specs.len() as u32);
        let mut names = Vec::new();
        for (spec, id) in specs.iter().zip(first..) {
            let index = Index::from_spec(IndexId(id), spec, ready, 0)?;
            names.push(index.name.clone());
            indexes.push(Arc::new(index));
        }
        self.put(Arc::new(collection.with_indexes(indexes)));
        if ready {
            self.tell_indexes(namespace, &names);
        }
        Ok(names)
    }

    /// Tells change streams of indexes that are ready.
    fn tell_indexes(&mut self, namespace: &Namespace, names: &[String]) {
        let Some(collection) = self.catalog.get(namespace).cloned() else { return };
        let names: Vec<_> = names.iter().map(|name| &**name).collect();
        self.tell(|| changes::indexes_created(&collection, &names));
    }

    fn remove_indexes(&mut self, namespace: &Namespace, names: &[String]) {
        let Some(collection) = self.catalog.get(namespace).cloned() else { return };
        let (gone, kept): (Vec<_>, Vec<_>) =
            collection.indexes.iter().cloned().partition(|index| names.contains(&index.name));
        for index in &gone {
            self.discard_index(index);
            self.tell(|| changes::index_dropped(&collection, index));
        }
        self.put(Arc::new(collection.with_indexes(kept)));
    }

    /// Gives an index another specification with the same keys, if it is still what it was
    /// when that was made.
    pub fn alter_index(
        &mut self,
        namespace: &Namespace,
        altered: &Arc<Index>,
        spec: &RawDocument,
    ) -> Result<()> {
        let collection = current(self, namespace)?;
        let mut indexes = collection.indexes.clone();
        let Some(index) = indexes.iter_mut().find(|index| Arc::ptr_eq(index, altered)) else {
            return Err(Code::ConflictingOperationInProgress.error(format!(
                "the index {} of {namespace} was altered or dropped meanwhile",
                altered.name
            )));
        };
        *index = Arc::new(index.altered(spec, index.ready)?);
        self.tell(|| changes::index_altered(&collection, &altered.name, spec));
        self.put(Arc::new(collection.with_indexes(indexes)));
        Ok(())
    }
}

fn current(definition: &Definition<'_>, namespace: &Namespace) -> Result<Arc<Collection>> {
    definition.catalog.get(namespace).cloned().ok_or_else(|| {
        Code::NamespaceNotFound.error(format!("collection {namespace} was dropped meanwhile"))
    })
}

/// Refuses more indexes than a collection may have.
pub(crate) fn check_room(collection: &Collection, specs: &[&RawDocumentBuf]) -> Result<()> {
    if collection.indexes.len() + specs.len() <= INDEXES_MAX {
        return Ok(());
    }
    Err(Code::CannotCreateIndex.error(format!(
        "add index fails, too many indexes for {} key:{}; the limit is {INDEXES_MAX}",
        collection.namespace,
        specs.first().map(|spec| value::text::document(spec)).unwrap_or_default()
    )))
}

/// The specifications that no existing index answers; an error where one is in
/// the way.
pub(crate) fn missing<'a>(
    collection: &Collection,
    specs: &'a [RawDocumentBuf],
) -> Result<Vec<&'a RawDocumentBuf>> {
    let mut missing: Vec<&RawDocumentBuf> = Vec::new();
    for spec in specs {
        let existing = collection.indexes.iter().map(|index| &index.spec);
        let mut same = false;
        for other in existing.chain(missing.iter().copied()) {
            same |= is_same(spec, other)?;
        }
        if !same {
            missing.push(spec);
        }
    }
    Ok(missing)
}

/// What tells an index from another: one collection may have both where they differ here.
const SIGNATURE: [&str; 6] =
    ["key", "partialFilterExpression", "collation", "unique", "sparse", "wildcardProjection"];

/// What two indexes of one signature may differ in, but not at the same time.
const OPTIONS: [&str; 1] = ["expireAfterSeconds"];

/// Whether two specifications are one index. An index of the same name or keys
/// that is not the same is an error.
fn is_same(spec: &RawDocument, other: &RawDocument) -> Result<bool> {
    let same = |key| equal(get(spec, key), get(other, key));
    let same_name = same("name");
    let same_signature =
        SIGNATURE.into_iter().all(|key| equal(truth(spec, key), truth(other, key)));
    let same_options = OPTIONS.into_iter().all(same);
    match (same_name, same_signature, same_options) {
        (true, true, true) => Ok(true),
        (true, true, false) => Err(conflict(
            Code::IndexOptionsConflict,
            "An equivalent index already exists with the same name but different options.",
            spec,
            other,
        )),
        (false, true, false) => Err(conflict(
            Code::IndexOptionsConflict,
            "An equivalent index already exists with a different name and options.",
            spec,
            other,
        )),
        (true, false, _) => Err(conflict(
            Code::IndexKeySpecsConflict,
            "An existing index has the same name as the requested index. When index names are \
             not specified, they are auto generated and can cause conflicts. Please refer to our \
             documentation.",
            spec,
            other,
        )),
        (false, true, true) => Err(Code::IndexOptionsConflict.error(format!(
            "Index already exists with a different name: {}",
            get(other, "name").and_then(|name| name.value().as_str()).unwrap_or_default()
        ))),
        (false, false, _) => Ok(false),
    }
}

/// Whether two options are the same by value: 1 and 1.0 are.
fn equal(one: Option<Element<'_>>, other: Option<Element<'_>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => value::order::compare(one.value(), other.value()).is_eq(),
        (None, None) => true,
        _ => false,
    }
}

/// An option; false is the same as nothing.
fn truth<'a>(spec: &'a RawDocument, key: &str) -> Option<Element<'a>> {
    get(spec, key).filter(|option| option.value() != RawBsonRef::Boolean(false))
}

fn conflict(code: Code, why: &str, spec: &RawDocument, other: &RawDocument) -> Error {
    code.error(format!(
        "{why} Requested index: {}, existing index: {}",
        value::text::document(spec),
        value::text::document(other)
    ))
}
