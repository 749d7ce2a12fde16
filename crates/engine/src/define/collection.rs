//! Collections and views made, altered, renamed, dropped.

use super::Definition;
use crate::Engine;
use crate::catalog::{self, Catalog, Collection, Index, Kind, State};
use crate::changes;
use crate::storage::{CollectionId, IndexId};
use bson::{RawDocument, RawDocumentBuf, cstr};
use command::Namespace;
use error::{Code, Result};
use std::sync::Arc;

/// What the names of collections begin with that are only written to be renamed.
pub const TEMPORARY_PREFIX: &str = "tmp.agg_out.";

pub fn is_temporary(namespace: &Namespace) -> bool {
    namespace.collection.starts_with(TEMPORARY_PREFIX)
}

/// What change streams call a collection that takes the place of another, as a copy would,
/// before it has its name.
pub(super) const COPY_NAME: &str = "tmp.renameCollection";

/// A collection or view to be made; `options` are those `listCollections` shows.
pub struct New<'a> {
    pub namespace: &'a Namespace,
    pub options: &'a RawDocument,
    pub view: bool,
}

impl Engine {
    /// Makes a collection or view. `NamespaceExists` if there is one.
    pub async fn create(self: &Arc<Self>, new: New<'_>) -> Result<Arc<Collection>> {
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
            let new = New { namespace, options: &RawDocumentBuf::new(), view: false };
            match self.create(new).await {
                Err(error) if error.code() == Code::NamespaceExists => {}
                outcome => return outcome,
            }
        }
    }

    /// Drops what a command has made on its way, if it is there. Nobody else does once the
    /// command has been stopped.
    pub async fn drop_collection(self: &Arc<Self>, namespace: &Namespace) -> Result<()> {
        let mut definition = Definition::begin_at_any_rate(self, &[namespace]).await;
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

    /// Gives a collection another name, over an existing one if `drop_target`; not while
    /// policies go by either of the names.
    pub async fn rename(
        self: &Arc<Self>,
        from: &Namespace,
        to: &Namespace,
        drop_target: bool,
    ) -> Result<()> {
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
        definition.tell(|| changes::altered(&collection, &options));
        definition.commit().await
    }
}

impl Definition<'_> {
    /// Makes a collection or view. `NamespaceExists` if there is one.
    pub fn create(&mut self, new: New<'_>) -> Result<Arc<Collection>> {
        if self.catalog.get(new.namespace).is_some() {
            return Err(Code::NamespaceExists
                .error(format!("Collection {} already exists.", new.namespace)));
        }
        check_case(&self.catalog, &new.namespace.database)?;
        let first = self.take_ids(2);
        let collection = Arc::new(define(&new, CollectionId(first), IndexId(first + 1))?);
        self.engine.policies.check_kind(&collection)?;
        self.put(collection.clone())?;
        self.tell(|| changes::created(&collection));
        Ok(collection)
    }

    /// The collection, made if there is none.
    pub fn ensure(&mut self, namespace: &Namespace) -> Result<Arc<Collection>> {
        match self.catalog.get(namespace) {
            Some(collection) => Ok(collection.clone()),
            None => self.create(New { namespace, options: &RawDocumentBuf::new(), view: false }),
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
        self.tell(|| changes::dropped(&collection));
        Ok(Some(collection))
    }

    /// Puts an empty collection of the same definition in the place of one. Indexes that
    /// someone is building are not taken along: builds go by the indexes' numbers.
    pub fn empty(&mut self, collection: &Collection) -> Result<()> {
        let first = self.take_ids(1 + collection.indexes.len() as u32);
        let anew = |(index, id): (&Arc<Index>, u32)| {
            Index::from_spec(IndexId(id), &index.spec, true, 0).map(Arc::new)
        };
        let built = collection.indexes.iter().filter(|index| index.ready);
        let indexes = built.zip(first + 1..).map(anew);
        let empty = Arc::new(Collection {
            id: CollectionId(first),
            uuid: bson::Uuid::new(),
            indexes: indexes.collect::<Result<_>>()?,
            state: Arc::new(State::default()),
            ..collection.clone()
        });
        self.discard(collection)?;
        self.tell(|| changes::dropped(collection));
        self.tell(|| changes::created(&empty));
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
            self.tell(|| changes::renamed(&collection, to, target.as_deref()));
        } else {
            // Records go by the collection's number, so nothing is copied; clients see what they
            // see of a copy: another collection takes the name, and the first is dropped.
            renamed.uuid = bson::Uuid::new();
            let database = to.database.clone();
            let copy = Namespace { database, collection: COPY_NAME.into() };
            let copy = Collection { namespace: copy, ..renamed.clone() };
            self.tell(|| changes::renamed(&copy, to, target.as_deref()));
            self.tell(|| changes::dropped(&collection));
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

/// A new database may not differ from another only in case.
pub(crate) fn check_case(catalog: &Catalog, database: &str) -> Result<()> {
    if catalog.database(database).next().is_some() {
        return Ok(());
    }
    match catalog.databases().iter().find(|other| other.eq_ignore_ascii_case(database)) {
        Some(other) => Err(Code::DatabaseDifferCase.error(format!(
            "db already exists with different case already have: [{other}] trying to create \
             [{database}]"
        ))),
        None => Ok(()),
    }
}

pub(crate) fn define(new: &New<'_>, id: CollectionId, id_index: IndexId) -> Result<Collection> {
    let (kind, indexes) = if new.view {
        (catalog::view_kind(new.options)?, Vec::new())
    } else {
        let index = Index::from_spec(id_index, &id_spec(new.options), true, 0)?;
        (catalog::kind(new.options)?, vec![Arc::new(index)])
    };
    Ok(Collection {
        namespace: new.namespace.clone(),
        id,
        uuid: bson::Uuid::new(),
        validator: if new.view { None } else { catalog::validator(new.options)? },
        collator: catalog::collator(new.options)?,
        kind,
        options: new.options.to_owned(),
        indexes,
        state: Arc::new(State::default()),
    })
}

/// The `_id` index has the collection's collation.
fn id_spec(options: &RawDocument) -> RawDocumentBuf {
    let mut key = RawDocumentBuf::new();
    key.append(cstr!("_id"), 1);
    let mut spec = RawDocumentBuf::new();
    spec.append(cstr!("v"), 2);
    spec.append(cstr!("key"), key);
    spec.append(cstr!("name"), "_id_");
    if let Some(collation) = value::element::get(options, "collation") {
        spec.append(cstr!("collation"), collation.value());
    }
    spec
}

/// The same collection under a name and options.
pub(super) fn redefine(
    collection: &Collection,
    namespace: &Namespace,
    options: &RawDocument,
) -> Result<Collection> {
    let view = collection.is_view();
    let kind: Kind = if view { catalog::view_kind(options)? } else { catalog::kind(options)? };
    Ok(Collection {
        namespace: namespace.clone(),
        id: collection.id,
        uuid: collection.uuid,
        kind,
        validator: if view { None } else { catalog::validator(options)? },
        collator: catalog::collator(options)?,
        options: options.to_owned(),
        indexes: collection.indexes.clone(),
        state: collection.state.clone(),
    })
}
