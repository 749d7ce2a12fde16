//! Collections and views made, altered, renamed, dropped.

use super::Definition;
use crate::Engine;
use crate::catalog::{
    Collection, CollectionState, Index, NewCollection, check_case, define, is_temporary, redefine,
};
use crate::changes;
use crate::storage::{CollectionId, IndexId};
use bson::RawDocumentBuf;
use command::Namespace;
use error::{Code, Result};
use std::sync::Arc;

/// What change streams call a collection that takes the place of another, as a copy would,
/// before it has its name.
pub(super) const COPY_NAME: &str = "tmp.renameCollection";

impl Engine {
    /// Makes a collection or view. `NamespaceExists` if there is one.
    pub async fn create(self: &Arc<Self>, new: NewCollection<'_>) -> Result<Arc<Collection>> {
        self.store.space().check()?;
        let mut definition = Definition::begin(self, &[new.namespace]).await?;
        let collection = definition.create(new)?;
        definition.commit().await?;
        Ok(collection)
    }

    /// The collection, made if there is none, as a first insert does.
    pub async fn ensure(self: &Arc<Self>, namespace: &Namespace) -> Result<Arc<Collection>> {
        loop {
            if let Some(collection) = self.registry.get(namespace) {
                return Ok(collection);
            }
            let new = NewCollection { namespace, options: &RawDocumentBuf::new(), view: false };
            match self.create(new).await {
                Err(error) if error.code() == Code::NamespaceExists => {}
                outcome => return outcome,
            }
        }
    }

    /// Drops what a command has made on its way, if it is there. Nobody else does once the
    /// command has been stopped.
    pub async fn drop_collection(self: &Arc<Self>, namespace: &Namespace) -> Result<()> {
        let mut definition = Definition::begin_uninterruptible(self, &[namespace]).await;
        if definition.drop(namespace)?.is_some() {
            definition.commit().await?;
            self.cursors.kill_namespace(namespace);
        }
        Ok(())
    }

    /// Drops what an `$out` that a crash has cut off left behind.
    pub(crate) async fn drop_temporary_collections(self: &Arc<Self>) -> Result<()> {
        for collection in self.registry.current().all() {
            if is_temporary(&collection.namespace) {
                self.drop_collection(&collection.namespace).await?;
            }
        }
        Ok(())
    }

    /// Gives a collection another name, over an existing one if `drop_target`. Its policy and
    /// pages go along.
    pub async fn rename(
        self: &Arc<Self>,
        from: &Namespace,
        to: &Namespace,
        drop_target: bool,
    ) -> Result<()> {
        if self.policies.get(from).is_some_and(|roles| roles.policy().is_some()) {
            return self.rename_guarded(from, to, drop_target).await;
        }
        if drop_target && self.policies.get(to).is_some_and(|roles| roles.policy().is_some()) {
            return self.rename_over_guarded(from, to).await;
        }
        let mut definition = Definition::begin_for_client(self, &[from, to]).await?;
        [from, to].into_iter().try_for_each(|namespace| self.policies.check_rename(namespace))?;
        definition.rename(from, to, drop_target)?;
        definition.commit().await?;
        self.cursors.kill_namespace(from);
        self.cursors.kill_namespace(to);
        Ok(())
    }

    /// Gives a collection or view new options.
    pub async fn alter(
        self: &Arc<Self>,
        namespace: &Namespace,
        alter: impl FnOnce(&Collection) -> Result<RawDocumentBuf>,
    ) -> Result<()> {
        let mut definition = Definition::begin_for_client(self, &[namespace]).await?;
        let Some(collection) = definition.catalog.get(namespace).cloned() else {
            return Err(Code::NamespaceNotFound.error(format!("ns does not exist: {namespace}")));
        };
        let options = alter(&collection)?;
        let altered = redefine(&collection, namespace, &options)?;
        self.policies.check_kind(&altered)?;
        definition.put(Arc::new(altered))?;
        definition.log_event_of(&collection.namespace, || changes::altered(&collection, &options));
        definition.commit().await
    }
}

impl Definition<'_> {
    /// Makes a collection or view. `NamespaceExists` if there is one.
    pub fn create(&mut self, new: NewCollection<'_>) -> Result<Arc<Collection>> {
        if self.catalog.get(new.namespace).is_some() {
            return Err(Code::NamespaceExists
                .error(format!("Collection {} already exists.", new.namespace)));
        }
        check_case(&self.catalog, &new.namespace.database)?;
        let first = self.take_ids(2);
        let collection = Arc::new(define(&new, CollectionId(first), IndexId(first + 1))?);
        self.engine.policies.check_kind(&collection)?;
        self.put(collection.clone())?;
        self.log_event_of(&collection.namespace, || changes::created(&collection));
        Ok(collection)
    }

    /// The collection, made if there is none.
    pub fn ensure(&mut self, namespace: &Namespace) -> Result<Arc<Collection>> {
        match self.catalog.get(namespace) {
            Some(collection) => Ok(collection.clone()),
            None => self.create(NewCollection {
                namespace,
                options: &RawDocumentBuf::new(),
                view: false,
            }),
        }
    }

    /// Whether a collection that this change holds has no documents.
    pub fn is_empty(&self, collection: &Collection) -> Result<bool> {
        Ok(self.engine.store.view().counts(collection.id)?.documents == 0)
    }

    /// Drops a collection or view, and gives back what it was.
    pub fn drop(&mut self, namespace: &Namespace) -> Result<Option<Arc<Collection>>> {
        let Some(collection) = self.catalog.get(namespace).cloned() else { return Ok(None) };
        self.remove(namespace);
        self.discard(&collection)?;
        self.log_event_of(namespace, || changes::dropped(&collection));
        Ok(Some(collection))
    }

    /// Puts an empty collection of the same definition in the place of one. Indexes that
    /// someone is building are not taken along: builds go by the indexes' numbers.
    pub fn empty(&mut self, collection: &Collection) -> Result<()> {
        let first = self.take_ids(1 + collection.indexes.len() as u32);
        let anew = |(index, id): (&Arc<Index>, u32)| {
            Index::from_spec(IndexId(id), &index.spec, true).map(Arc::new)
        };
        let built = collection.indexes.iter().filter(|index| index.ready);
        let indexes = built.zip(first + 1..).map(anew);
        let empty = Arc::new(Collection {
            id: CollectionId(first),
            uuid: bson::Uuid::new(),
            indexes: indexes.collect::<Result<_>>()?,
            state: Arc::new(CollectionState::default()),
            ..collection.clone()
        });
        self.discard(collection)?;
        self.log_event_of(&collection.namespace, || changes::dropped(collection));
        self.log_event_of(&collection.namespace, || changes::created(&empty));
        self.put(empty)?;
        Ok(())
    }

    /// Gives a collection another name, in another database too, over an existing one if
    /// `drop_target`.
    pub fn rename(&mut self, from: &Namespace, to: &Namespace, drop_target: bool) -> Result<()> {
        let Some(collection) = self.catalog.get(from).cloned() else {
            return Err(
                Code::NamespaceNotFound.error(format!("Source collection {from} does not exist"))
            );
        };
        if collection.is_view() {
            return Err(
                Code::CommandNotSupportedOnView.error(format!("cannot rename view: {from}"))
            );
        }
        check_not_building(&collection)?;
        check_case(&self.catalog, &to.database)?;
        let target = self.catalog.get(to).cloned();
        if let Some(target) = &target {
            if !drop_target {
                return Err(Code::NamespaceExists.error("target namespace exists"));
            }
            self.remove(to);
            self.discard(target)?;
        }
        let mut renamed = redefine(&collection, to, &collection.options)?;
        if from.database == to.database {
            self.log_event_of(from, || changes::renamed(&collection, to, target.as_deref()));
        } else {
            // Records go by the collection's number, so nothing is copied; clients see what they
            // see of a copy: another collection takes the name, and the first is dropped.
            renamed.uuid = bson::Uuid::new();
            let database = to.database.clone();
            let copy = Namespace { database, collection: COPY_NAME.into() };
            let copy = Collection { namespace: copy, ..renamed.clone() };
            self.log_event(|| changes::renamed(&copy, to, target.as_deref()));
            self.log_event(|| changes::dropped(&collection));
        }
        self.remove(from);
        self.put(Arc::new(renamed))?;
        Ok(())
    }
}

/// A build goes by the collection's name and definition.
pub(super) fn check_not_building(collection: &Collection) -> Result<()> {
    match collection.indexes.iter().all(|index| index.ready) {
        true => Ok(()),
        false => Err(Code::BackgroundOperationInProgressForNamespace.error(format!(
            "cannot perform operation: an index build is currently running for collection {}",
            collection.namespace
        ))),
    }
}
