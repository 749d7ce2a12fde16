//! Indexes that name an array which overflows are mirrored on its pages.

use super::pages::{find_index, page_indexes};
use crate::Engine;
use crate::catalog::{Collection, Index, IndexesCreated};
use crate::define::Definition;
use crate::operation::{WorkProgress, held_up, unless_stopped};
use bson::RawDocumentBuf;
use command::Namespace;
use error::Result;
use guard::policy::Overflow;
use guard::provision::{are_same, mirrored};
use guard::{Policy, Table};
use std::sync::Arc;

impl Engine {
    /// Makes indexes together with their mirrors on the pages: all of them, or none.
    pub async fn create_mirrored_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
        progress: &WorkProgress,
    ) -> Result<IndexesCreated> {
        let created_collection = self.registry.get(namespace).is_none();
        let collection = self.ensure(namespace).await?;
        // Another client that creates the same must not see indexes that are rolled back.
        let _turn = match overflows(&self.policies.current(), namespace).next() {
            Some(_) => Some(unless_stopped(held_up(collection.state.mirroring.lock())).await?),
            None => None,
        };
        let created = self.create_indexes(namespace, specs, progress).await?;
        if let Err(error) = self.mirror_some(namespace, specs).await {
            self.take_back(namespace, &created).await?;
            return Err(error);
        }
        Ok(IndexesCreated { created_collection, ..created })
    }

    /// Drops indexes that could not be mirrored, and what was mirrored of them.
    async fn take_back(
        self: &Arc<Self>,
        namespace: &Namespace,
        created: &IndexesCreated,
    ) -> Result<()> {
        let Some(collection) = self.registry.get(namespace) else { return Ok(()) };
        let made = collection.indexes.iter().filter(|index| created.made.contains(&index.id));
        let made: Vec<_> = made.cloned().collect();
        self.remove_made(namespace, &created.made).await?;
        self.remove_mirrored_indexes(namespace, &made).await
    }

    /// Makes the mirrors of these indexes, as far as the collection has indexes that are
    /// mirrored so and the pages do not. What is wrong with others is not theirs to suffer.
    pub async fn mirror_some(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
    ) -> Result<()> {
        for overflow in overflows(&self.policies.current(), namespace) {
            let some: Vec<_> = specs.iter().filter_map(|spec| mirrored(overflow, spec)).collect();
            let mut wanted = page_indexes(overflow, self.registry.get(namespace).as_deref());
            wanted.retain(|spec| some.iter().any(|one| are_same(one, spec)));
            self.index_pages(overflow, &wanted).await.map_err(|error| {
                error.context(&format!(
                    "an index that names the array '{}' is mirrored on its pages in '{}', where \
                     it cannot be made",
                    overflow.path, overflow.into
                ))
            })?;
        }
        Ok(())
    }
}

/// Drops what is mirrored of a collection's indexes, with a change that holds its pages.
pub fn drop_mirrors(definition: &mut Definition<'_>, table: &Table, collection: &Collection) {
    for overflow in overflows(table, &collection.namespace) {
        if let Some(pages) = definition.catalog.get(&overflow.into) {
            let names = mirrors(overflow, pages, &collection.indexes);
            definition.remove_indexes(&overflow.into, |index| names.contains(&index.name));
        }
    }
}

/// The names of the indexes of pages that were made for these.
pub fn mirrors(overflow: &Overflow, pages: &Collection, of: &[Arc<Index>]) -> Vec<String> {
    let is_mirrored = |index: &&Arc<Index>| {
        let spec = mirrored(overflow, &index.spec);
        let mirror = spec.and_then(|spec| find_index(pages, &spec));
        mirror.is_some_and(|mirror| mirror.name == index.name)
    };
    of.iter().filter(is_mirrored).map(|index| index.name.clone()).collect()
}

fn overflows<'t>(
    table: &'t Table,
    namespace: &Namespace,
) -> impl Iterator<Item = &'t Arc<Overflow>> {
    table.policy(namespace).into_iter().flat_map(Policy::overflows)
}
