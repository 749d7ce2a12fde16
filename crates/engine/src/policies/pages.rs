//! The collections and views that overflow needs.

use super::mirror;
use crate::Engine;
use crate::catalog::{Catalog, Collection, Index};
use crate::define::Definition;
use crate::operation::WorkProgress;
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use guard::Policy;
use guard::policy::Overflow;
use guard::provision::{
    self, Existing, Needed, answers, earlier_view_options, is_hidden, loses_pages, view_options,
    with_hidden,
};
use guard::verify::Drift;
use std::sync::Arc;
use value::element::get_value;

impl Engine {
    /// Refuses names under which something else is already.
    pub(super) fn check_names(&self, policy: &Policy, overflow: &Overflow) -> Result<()> {
        self.check_into(overflow)?;
        let Some(view) = &overflow.view else { return Ok(()) };
        let Some(existing) = self.registry.get(view) else { return Ok(()) };
        // One that is the same may have been restored before its policy is.
        let own = self.is_own_view(policy, overflow)
            || existing.options == view_options(policy, overflow)
            || existing.options == earlier_view_options(policy, overflow);
        match own && existing.is_view() {
            true => Ok(()),
            false => Err(Code::NamespaceExists.error(format!(
                "the policy key 'arrays.{}.overflow.elements' names '{view}', which is there \
                 already; expected a name that is free",
                overflow.path
            ))),
        }
    }

    /// Refuses a collection that would not take every page, or not keep it.
    fn check_into(&self, overflow: &Overflow) -> Result<()> {
        let Some(into) = self.registry.get(&overflow.into) else { return Ok(()) };
        let refused = |what: &str, expected: &str| {
            Err(Code::BadValue.error(format!(
                "the policy key 'arrays.{}.overflow.into' names '{}', which {what}; expected \
                 {expected}",
                overflow.path, overflow.into
            )))
        };
        if into.is_view() || into.is_capped() {
            return refused("is a view or capped", "an ordinary collection");
        }
        if into.collator.is_some() {
            let expected = "one without, since pages of two documents could be taken for one";
            return refused("has a default collation", expected);
        }
        if get_value(&into.options, "expireAfterSeconds").is_some() {
            return refused("lets its documents expire", "one that keeps them");
        }
        match into.indexes.iter().find(|index| loses_pages(&index.spec)) {
            Some(index) => refused(
                &format!("has the index '{}', which would refuse pages or delete them", index.name),
                "indexes that are not unique and let nothing expire",
            ),
            None => Ok(()),
        }
    }

    /// Drops a collection. Its policy stays, and so do the collections of its
    /// pages, emptied and without the mirrors of its indexes.
    pub async fn drop_with_pages(
        self: &Arc<Self>,
        namespace: &Namespace,
    ) -> Result<Option<Arc<Collection>>> {
        loop {
            let pages = self.policies.current().pages_of(namespace);
            let gates: Vec<&Namespace> = pages.iter().chain([namespace]).collect();
            let mut definition = Definition::begin(self, &gates).await?;
            // A policy may have come, gone or changed before.
            if self.policies.current().pages_of(namespace) != pages {
                continue;
            }
            let Some(collection) = definition.drop(namespace)? else { return Ok(None) };
            self.policies.check_definition(namespace)?;
            mirror::drop_mirrors(&mut definition, &self.policies.current(), &collection);
            for pages in &pages {
                if let Some(pages) = definition.catalog.get(pages).cloned() {
                    definition.empty(&pages)?;
                }
            }
            definition.commit().await?;
            self.cursors.kill_namespace(namespace);
            return Ok(Some(collection));
        }
    }

    /// Mirrors the indexes of a collection on the pages of its arrays, as far as they are
    /// not mirrored yet.
    pub async fn mirror_indexes(self: &Arc<Self>, namespace: &Namespace) -> Result<()> {
        let table = self.policies.current();
        for overflow in table.policy(namespace).into_iter().flat_map(Policy::overflows) {
            let wanted = page_indexes(overflow, self.registry.get(namespace).as_deref());
            self.index_pages(overflow, &wanted).await?;
        }
        Ok(())
    }

    /// The same for collections that a client's transaction has made. It is committed, so
    /// what goes wrong is left to `verifyGrowth`.
    pub async fn mirror_made(self: &Arc<Self>, made: &[Namespace]) {
        for namespace in made {
            if let Err(error) = self.mirror_indexes(namespace).await {
                tracing::warn!(%namespace, %error, "indexes are not mirrored on the pages; \
                    'freeboard verify --repair' does it");
            }
        }
    }

    /// Makes the indexes of pages that are not there, and hides those that are to be hidden.
    /// Pages that are gone went with their policy.
    pub(super) async fn index_pages(
        self: &Arc<Self>,
        overflow: &Overflow,
        wanted: &[RawDocumentBuf],
    ) -> Result<()> {
        let Some(pages) = self.registry.get(&overflow.into) else { return Ok(()) };
        if !wrongly_hidden(&pages, wanted).is_empty() {
            let mut definition = Definition::begin(self, &[&overflow.into]).await?;
            definition.hide_pages_indexes(&overflow.into, wanted)?;
            definition.commit().await?;
        }
        let missing = unanswered(&pages, wanted);
        if missing.is_empty() {
            return Ok(());
        }
        match self.add_indexes(&overflow.into, &missing, &WorkProgress::of_command()).await {
            Err(error) if error.code() == Code::NamespaceNotFound => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }

    /// Drops what was mirrored of indexes that are no more, and what other indexes
    /// have as their mirror too is rebuilt under their name.
    pub async fn remove_mirrored_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        removed: &[Arc<Index>],
    ) -> Result<()> {
        let table = self.policies.current();
        for overflow in table.policy(namespace).into_iter().flat_map(Policy::overflows) {
            let Some(pages) = self.registry.get(&overflow.into) else { continue };
            let names = mirror::mirrors(overflow, &pages, removed);
            if !names.is_empty() {
                self.remove_indexes(&overflow.into, &names).await?;
            }
        }
        let specs: Vec<_> = removed.iter().map(|index| index.spec.clone()).collect();
        self.mirror_some(namespace, &specs).await
    }

    /// Refuses to drop indexes of pages that their policy needs.
    pub fn check_index_drop(&self, collection: &Collection, names: &[String]) -> Result<()> {
        let namespace = &collection.namespace;
        let table = self.policies.current();
        let Some(of) = table.of_pages(namespace) else {
            return self.policies.check_definition(namespace);
        };
        let whole = self.registry.get(of);
        let mut overflows = table.policy(of).into_iter().flat_map(Policy::overflows);
        let needed = overflows.find(|overflow| overflow.into == *namespace);
        let needed = needed.map(|overflow| page_indexes(overflow, whole.as_deref()));
        let is_needed = |spec: &RawDocumentBuf| {
            find_index(collection, spec).is_some_and(|index| names.contains(&index.name))
        };
        match needed.is_none_or(|specs| specs.iter().any(is_needed)) {
            true => self.policies.check_definition(namespace),
            false => Ok(()),
        }
    }

    /// Whether the view of all elements is the policy's already.
    fn is_own_view(&self, policy: &Policy, overflow: &Overflow) -> bool {
        {
            let view = overflow.view.as_ref();
            let table = self.policies.current();
            view.and_then(|view| table.of_view(view)) == Some(&policy.namespace)
        }
    }
}

/// The indexes that the pages of a collection's array have.
pub fn page_indexes(overflow: &Overflow, collection: Option<&Collection>) -> Vec<RawDocumentBuf> {
    provision::page_indexes(overflow, own_indexes(collection))
}

/// The indexes of a policy's collection, but for that of `_id`.
pub fn own_indexes(collection: Option<&Collection>) -> impl Iterator<Item = &RawDocument> {
    let indexes = collection.into_iter().flat_map(|collection| collection.indexes.iter().skip(1));
    indexes.map(|index| &*index.spec)
}

/// The index of pages that is this one, or as good.
pub fn find_index<'c>(pages: &'c Collection, spec: &RawDocument) -> Option<&'c Arc<Index>> {
    pages.indexes.iter().find(|index| index.ready && answers(&index.spec, spec))
}

/// Those that no index of the pages answers.
pub fn unanswered(pages: &Collection, wanted: &[RawDocumentBuf]) -> Vec<RawDocumentBuf> {
    wanted.iter().filter(|spec| find_index(pages, spec).is_none()).cloned().collect()
}

/// Indexes of pages that are hidden and should not be, or the other way round, and what they
/// should be.
fn wrongly_hidden<'c>(
    pages: &'c Collection,
    wanted: &[RawDocumentBuf],
) -> Vec<(&'c Arc<Index>, RawDocumentBuf)> {
    let wrong = |spec: &RawDocumentBuf| {
        let (index, hidden) = (find_index(pages, spec)?, is_hidden(spec));
        (index.hidden != hidden).then(|| (index, with_hidden(&index.spec, hidden)))
    };
    wanted.iter().filter_map(wrong).collect()
}

impl Definition<'_> {
    /// Hides the indexes of pages that are to be hidden, and no others.
    pub(super) fn hide_pages_indexes(
        &mut self,
        namespace: &Namespace,
        wanted: &[RawDocumentBuf],
    ) -> Result<()> {
        let Some(pages) = self.catalog.get(namespace).cloned() else { return Ok(()) };
        for (index, altered) in wrongly_hidden(&pages, wanted) {
            self.alter_index(namespace, index, &altered)?;
        }
        Ok(())
    }
}

/// What a policy needs.
pub fn needed(policy: &Policy, catalog: &Catalog) -> Vec<Needed> {
    let own = catalog.get(&policy.namespace).map(|collection| &**collection);
    provision::needed(policy, &own_indexes(own).collect::<Vec<_>>())
}

/// What a policy needs beside the data and does not find.
pub fn missing(policy: &Policy, catalog: &Catalog) -> Vec<Drift> {
    let missing = |needed: &Needed| {
        let collection = catalog.get(&needed.namespace);
        needed.missing(collection.map(|collection| existing(collection)).as_ref())
    };
    needed(policy, catalog).iter().flat_map(missing).collect()
}

fn existing(collection: &Collection) -> Existing<'_> {
    if collection.is_view() {
        return Existing::View { options: &collection.options };
    }
    let ready = collection.indexes.iter().filter(|index| index.ready);
    Existing::Collection { indexes: ready.map(|index| &*index.spec).collect() }
}
