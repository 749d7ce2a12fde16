//! Indexes made, altered, dropped.

use super::Definition;
use super::build::Build;
use crate::Engine;
use crate::catalog::{
    Collection, CollectionState, Index, IndexesCreated, IndexesFound, find_indexes,
};
use crate::changes;
use crate::operation::{WorkProgress, held_up, unless_stopped};
use crate::storage::IndexId;
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use std::sync::Arc;

/// Indexes that are in the definition and are to be built.
struct Unbuilt {
    /// As it was without them.
    collection: Arc<Collection>,
    ids: Vec<IndexId>,
}

/// A build under way; those who wait for it hear of its end, however it comes.
struct Ended<'a>(&'a CollectionState);

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
        progress: &WorkProgress,
    ) -> Result<IndexesCreated> {
        let created_collection = self.registry.get(namespace).is_none();
        loop {
            self.ensure(namespace).await?;
            // Someone may drop it before its indexes are made.
            if let Some(created) = self.add_indexes(namespace, specs, progress).await? {
                return Ok(IndexesCreated { created_collection, ..created });
            }
        }
    }

    /// The same for a collection that is not to be made: `None` if it is gone.
    pub async fn add_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
        progress: &WorkProgress,
    ) -> Result<Option<IndexesCreated>> {
        let unbuilt = loop {
            let Some(collection) = self.registry.get(namespace) else { return Ok(None) };
            match find_indexes(&collection, specs)? {
                IndexesFound::All => return Ok(Some(IndexesCreated::of(&collection, Vec::new()))),
                IndexesFound::Building(ids) => self.wait_for_builds(&collection, &ids).await?,
                IndexesFound::Missing(_) => {
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
        Ok(Some(IndexesCreated::of(&collection, made)))
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
        progress: &WorkProgress,
    ) -> Result<()> {
        Build { engine: self, namespace, ids, progress }.run().await?;
        let mut definition = Definition::begin_uninterruptible(self, &[namespace]).await;
        let collection = current(&definition, namespace)?;
        let built = built(&collection, ids)?;
        let names: Vec<_> = built.iter().map(|index| &*index.name).collect();
        let ready = |index: &Arc<Index>| match ids.contains(&index.id) {
            true => index.altered(&index.spec, true).map(Arc::new),
            false => Ok(index.clone()),
        };
        let indexes = collection.indexes.iter().map(ready).collect::<Result<Vec<_>>>()?;
        definition
            .log_event_of(&collection.namespace, || changes::indexes_created(&collection, &names));
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
        let mut definition = Definition::begin_uninterruptible(self, &[namespace]).await;
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
        let mut definition = Definition::begin_uninterruptible(self, &[namespace]).await;
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
        let IndexesFound::Missing(missing) = find_indexes(&collection, specs)? else {
            return Ok(Vec::new());
        };
        let first = self.take_ids(missing.len() as u32);
        let ids: Vec<_> = (first..).take(missing.len()).map(IndexId).collect();
        let mut made = Vec::with_capacity(ids.len());
        for (spec, id) in missing.iter().zip(&ids) {
            made.push(Arc::new(Index::from_spec(*id, spec, ready)?));
        }
        let indexes = [&collection.indexes[..], &made[..]].concat();
        let collection = Arc::new(collection.with_indexes(indexes));
        self.put(collection.clone())?;
        if ready {
            let names: Vec<_> = made.iter().map(|index| &*index.name).collect();
            self.log_event_of(&collection.namespace, || {
                changes::indexes_created(&collection, &names)
            });
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
            self.log_event_of(&collection.namespace, || changes::index_dropped(&collection, index));
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
        self.log_event_of(&collection.namespace, || {
            changes::index_altered(&collection, &altered.name, spec)
        });
        self.put(Arc::new(collection.with_indexes(indexes)))?;
        Ok(())
    }
}

fn current(definition: &Definition<'_>, namespace: &Namespace) -> Result<Arc<Collection>> {
    definition.catalog.get(namespace).cloned().ok_or_else(|| {
        Code::NamespaceNotFound.error(format!("collection {namespace} was dropped meanwhile"))
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
