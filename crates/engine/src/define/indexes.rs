//! Indexes made, altered, dropped.

use super::build::Build;
use super::{Definition, Progress};
use crate::Engine;
use crate::catalog::{Collection, Index, State};
use crate::changes;
use crate::operation::{held_up, unless_stopped};
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
    /// The indexes that were not there.
    pub made: Vec<IndexId>,
}

impl Created {
    /// Of a collection as it was without those that were made.
    fn of(collection: &Collection, made: Vec<IndexId>) -> Created {
        let before = collection.indexes.len();
        Created { before, after: before + made.len(), created_collection: false, made }
    }
}

/// How indexes that are asked for stand.
pub(crate) enum Found<'a> {
    /// All are there.
    All,
    /// Someone is building these.
    Building(Vec<IndexId>),
    /// These are not there; none of the others is being built.
    Missing(Vec<&'a RawDocumentBuf>),
}

/// Indexes that are in the definition and are to be built.
struct Unbuilt {
    /// As it was without them.
    collection: Arc<Collection>,
    ids: Vec<IndexId>,
}

/// A build under way; those who wait for it hear of its end, however it comes.
struct Ended<'a>(&'a State);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.build_ended.notify_waiters();
    }
}

impl Engine {
    /// Makes indexes from checked specifications `{v, key, name, …}`. Those that
    /// are there already are left alone, those that someone is building are waited for; all
    /// others are made, or none.
    pub async fn create_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
        progress: &Progress,
    ) -> Result<Created> {
        let created_collection = self.registry.get(namespace).is_none();
        loop {
            self.ensure(namespace).await?;
            // Someone may drop it before its indexes are made.
            if let Some(created) = self.add_indexes(namespace, specs, progress).await? {
                return Ok(Created { created_collection, ..created });
            }
        }
    }

    /// The same for a collection that is not to be made: `None` if it is gone.
    pub async fn add_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
        progress: &Progress,
    ) -> Result<Option<Created>> {
        let unbuilt = loop {
            let Some(collection) = self.registry.get(namespace) else { return Ok(None) };
            match look(&collection, specs)? {
                Found::All => return Ok(Some(Created::of(&collection, Vec::new()))),
                Found::Building(ids) => self.wait_for_builds(&collection, &ids).await?,
                Found::Missing(_) => {
                    if let Some(unbuilt) = self.register(namespace, specs).await? {
                        break unbuilt;
                    }
                }
            }
        };
        let Unbuilt { collection, ids: made } = unbuilt;
        let _ended = Ended(&collection.state);
        if let Err(error) = self.build(namespace, &made, progress).await {
            self.remove_made(namespace, &made).await?;
            return Err(error);
        }
        Ok(Some(Created::of(&collection, made)))
    }

    /// Adds the indexes that are missing to the definition: written to from now on, not yet
    /// read. `None` if they are not missing, or not all, since someone else was quicker.
    async fn register(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
    ) -> Result<Option<Unbuilt>> {
        let mut definition = Definition::begin(self, &[namespace]).await?;
        let collection = current(&definition, namespace)?;
        self.policies.check_indexes(namespace, specs.iter().map(|spec| &**spec))?;
        let ids = definition.add_indexes(namespace, specs, false)?;
        if ids.is_empty() {
            return Ok(None);
        }
        definition.commit().await?;
        Ok(Some(Unbuilt { collection, ids }))
    }

    /// Waits until the build of one of these indexes has ended, unless the command is to stop.
    async fn wait_for_builds(&self, collection: &Collection, builds: &[IndexId]) -> Result<()> {
        // It hears of every end from here on, and those before it can be seen.
        let ended = collection.state.build_ended.notified();
        let now = self.registry.get(&collection.namespace);
        let is_building = |index: &Arc<Index>| !index.ready && builds.contains(&index.id);
        match now.is_some_and(|now| now.indexes.iter().any(is_building)) {
            true => unless_stopped(held_up(ended)).await,
            false => Ok(()),
        }
    }

    /// Fills registered indexes and lets them be read. One that is asked to stop when they are
    /// filled would have to wait as long to be rid of them.
    async fn build(
        self: &Arc<Self>,
        namespace: &Namespace,
        ids: &[IndexId],
        progress: &Progress,
    ) -> Result<()> {
        Build { engine: self, namespace, ids, progress }.run().await?;
        let mut definition = Definition::begin_at_any_rate(self, &[namespace]).await;
        let collection = current(&definition, namespace)?;
        let built = built(&collection, ids)?;
        let names: Vec<_> = built.iter().map(|index| &*index.name).collect();
        let ready = |index: &Arc<Index>| match ids.contains(&index.id) {
            true => index.altered(&index.spec, true).map(Arc::new),
            false => Ok(index.clone()),
        };
        let indexes = collection.indexes.iter().map(ready).collect::<Result<Vec<_>>>()?;
        definition.tell(|| changes::indexes_created(&collection, &names));
        definition.put(Arc::new(collection.with_indexes(indexes)))?;
        definition.commit().await
    }

    /// Takes back indexes that a command has made: them, and not those that others have made
    /// under their names since. Whoever is stopped here leaves what nobody asks for again.
    pub async fn remove_made(
        self: &Arc<Self>,
        namespace: &Namespace,
        ids: &[IndexId],
    ) -> Result<()> {
        let mut definition = Definition::begin_at_any_rate(self, &[namespace]).await;
        definition.remove_indexes(namespace, |index| ids.contains(&index.id));
        definition.commit().await
    }

    /// Drops indexes by name; those that are not there are passed over. They are half built, or
    /// mirror indexes that are gone: whoever is stopped here leaves what nobody asks for again.
    pub async fn remove_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        names: &[String],
    ) -> Result<()> {
        let mut definition = Definition::begin_at_any_rate(self, &[namespace]).await;
        definition.remove_indexes(namespace, |index| names.contains(&index.name));
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
        definition.remove_indexes(namespace, |index| names.contains(&index.name));
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
    /// Adds those of the indexes that are not there, unless someone is building one of them.
    /// They are ready at once in a collection that holds nothing.
    pub fn add_indexes(
        &mut self,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
        ready: bool,
    ) -> Result<Vec<IndexId>> {
        let collection = current(self, namespace)?;
        let Found::Missing(missing) = look(&collection, specs)? else { return Ok(Vec::new()) };
        let first = self.take_ids(missing.len() as u32);
        let ids: Vec<_> = (first..).take(missing.len()).map(IndexId).collect();
        let mut made = Vec::with_capacity(ids.len());
        for (spec, id) in missing.iter().zip(&ids) {
            made.push(Arc::new(Index::from_spec(*id, spec, ready, 0)?));
        }
        let indexes = [&collection.indexes[..], &made[..]].concat();
        let collection = Arc::new(collection.with_indexes(indexes));
        self.put(collection.clone())?;
        if ready {
            let names: Vec<_> = made.iter().map(|index| &*index.name).collect();
            self.tell(|| changes::indexes_created(&collection, &names));
        }
        Ok(ids)
    }

    pub fn remove_indexes(&mut self, namespace: &Namespace, goes: impl Fn(&Index) -> bool) {
        let Some(collection) = self.catalog.get(namespace).cloned() else { return };
        let (gone, kept): (Vec<_>, Vec<_>) =
            collection.indexes.iter().cloned().partition(|index| goes(index));
        if gone.is_empty() {
            return;
        }
        for index in &gone {
            self.discard_index(index);
            self.tell(|| changes::index_dropped(&collection, index));
        }
        self.put_smaller(Arc::new(collection.with_indexes(kept)));
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
        self.put(Arc::new(collection.with_indexes(indexes)))?;
        Ok(())
    }
}

fn current(definition: &Definition<'_>, namespace: &Namespace) -> Result<Arc<Collection>> {
    definition.catalog.get(namespace).cloned().ok_or_else(|| {
        Code::NamespaceNotFound.error(format!("collection {namespace} was dropped meanwhile"))
    })
}

/// Refuses more indexes than a collection may have.
fn check_room(collection: &Collection, specs: &[&RawDocumentBuf]) -> Result<()> {
    if collection.indexes.len() + specs.len() <= INDEXES_MAX {
        return Ok(());
    }
    Err(Code::CannotCreateIndex.error(format!(
        "add index fails, too many indexes for {} key:{}; the limit is {INDEXES_MAX}",
        collection.namespace,
        specs.first().map(|spec| value::text::document(spec)).unwrap_or_default()
    )))
}

/// How the indexes of these specifications stand; an error where another is in the way, or
/// where there would be too many.
pub(crate) fn look<'a>(collection: &Collection, specs: &'a [RawDocumentBuf]) -> Result<Found<'a>> {
    let mut missing: Vec<&RawDocumentBuf> = Vec::new();
    let mut building = Vec::new();
    for spec in specs {
        let mut is_there = false;
        for index in &collection.indexes {
            let answers = is_same(spec, &index.spec)?;
            is_there |= answers;
            building.extend((answers && !index.ready).then_some(index.id));
        }
        for other in &missing {
            is_there |= is_same(spec, other)?;
        }
        if !is_there {
            missing.push(spec);
            // Before the next is compared with all of these.
            check_room(collection, &missing)?;
        }
    }
    Ok(match (building.is_empty(), missing.is_empty()) {
        (false, _) => Found::Building(building),
        (true, false) => Found::Missing(missing),
        (true, true) => Found::All,
    })
}

/// The indexes of a build, which someone may have dropped meanwhile.
pub(super) fn built(collection: &Collection, ids: &[IndexId]) -> Result<Vec<Arc<Index>>> {
    let indexes = collection.indexes.iter().filter(|index| ids.contains(&index.id));
    let indexes: Vec<_> = indexes.cloned().collect();
    match indexes.len() == ids.len() {
        true => Ok(indexes),
        false => Err(Code::IndexBuildAborted
            .error(format!("an index of {} was dropped while it was built", collection.namespace))),
    }
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
