//! The collections and views that overflow needs.

use super::mirror;
use crate::Engine;
use crate::catalog::{Catalog, Collection, Index};
use crate::define::{Definition, New, Progress};
use bson::{RawDocument, RawDocumentBuf, rawdoc};
use command::Namespace;
use error::{Code, Result};
use guard::policy::Overflow;
use guard::verify::{Drift, Kind};
use guard::{Guarded, Policy};
use std::sync::Arc;
use value::DocumentWriter;
use value::element::get_value;

impl Engine {
    /// Makes what the overflows of a policy write to, as far as it is not there.
    pub(super) async fn make_pages(self: &Arc<Self>, policy: &Policy) -> Result<()> {
        let collection = self.registry.get(&policy.namespace);
        for overflow in policy.overflows() {
            self.index_pages(overflow, page_indexes(overflow, collection.as_deref())).await?;
        }
        for overflow in policy.overflows() {
            self.make_view(policy, overflow).await?;
        }
        Ok(())
    }

    /// Refuses names under which something else is already.
    pub(super) fn check_names(&self, policy: &Policy, overflow: &Overflow) -> Result<()> {
        self.check_into(overflow)?;
        let Some(existing) = self.registry.get(&overflow.view) else { return Ok(()) };
        // One that is the same is left from a policy that was not set in the end.
        let own = self.is_own_view(policy, overflow)
            || existing.options == view_options(policy, overflow);
        match own && existing.is_view() {
            true => Ok(()),
            false => Err(Code::NamespaceExists.error(format!(
                "'{}' is to be the view of all elements, and is there already; expected a name \
                 that is free (overflow.into, with _all behind it)",
                overflow.view
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
        match into.indexes.iter().find(|index| mirror::loses_pages(&index.spec)) {
            Some(index) => refused(
                &format!("has the index '{}', which would refuse pages or delete them", index.name),
                "indexes that are not unique and let nothing expire",
            ),
            None => Ok(()),
        }
    }

    /// Makes anew what is missing of a policy's indexes and views.
    pub async fn remake_pages(self: &Arc<Self>, namespace: &Namespace) -> Result<()> {
        let _turn = self.policies.turn().await;
        match self.policies.current().policy(namespace) {
            Some(policy) => self.make_pages(policy).await,
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
            let mut definition = Definition::begin(self, &gates).await;
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
            let collection = self.registry.get(namespace);
            self.index_pages(overflow, page_indexes(overflow, collection.as_deref())).await?;
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
    pub(super) async fn index_pages(
        self: &Arc<Self>,
        overflow: &Overflow,
        wanted: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let pages = self.registry.get(&overflow.into);
        let mut missing: Vec<RawDocumentBuf> = Vec::new();
        for spec in wanted {
            let Some(index) = pages.as_deref().and_then(|pages| find_index(pages, &spec)) else {
                missing.push(spec);
                continue;
            };
            let hidden = mirror::is_hidden(&spec);
            if index.hidden != hidden {
                let altered = mirror::with_hidden(&index.spec, hidden);
                let mut definition = Definition::begin(self, &[&overflow.into]).await;
                definition.alter_index(&overflow.into, index, &altered)?;
                definition.commit().await?;
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.create_indexes(&overflow.into, &missing, &Progress::default()).await.map(|_| ())
    }

    /// Drops what was mirrored of indexes that are no more, and what other indexes
    /// have as their mirror too is made anew under their name.
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
        let guarded = self.policies.get(namespace);
        let Some(Guarded::Pages { of }) = guarded.as_deref() else {
            return self.policies.check_definition(namespace);
        };
        let (table, whole) = (self.policies.current(), self.registry.get(of));
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
        self.policies.current().of_view(&overflow.view) == Some(&policy.namespace)
    }

    async fn make_view(self: &Arc<Self>, policy: &Policy, overflow: &Overflow) -> Result<()> {
        let options = view_options(policy, overflow);
        match self.registry.get(&overflow.view) {
            Some(existing) if existing.options == options => return Ok(()),
            Some(_) if self.is_own_view(policy, overflow) => {
                self.drop_collection(&overflow.view).await?;
            }
            _ => {}
        }
        let new = New { namespace: &overflow.view, options: &options, view: true };
        self.create(new).await.map(|_| ())
    }

    /// Drops what an earlier policy wrote to and this one does not: it is empty.
    pub(super) async fn drop_unused_pages(
        self: &Arc<Self>,
        old: Option<&Policy>,
        new: Option<&Policy>,
    ) -> Result<()> {
        for was in old.into_iter().flat_map(|policy| policy.overflows()) {
            let mut now = new.into_iter().flat_map(|policy| policy.overflows());
            if now.all(|now| now.into != was.into) {
                self.drop_collection(&was.view).await?;
                self.drop_collection(&was.into).await?;
            }
        }
        Ok(())
    }
}

/// The indexes that the pages of a collection's array have. Two indexes of the collection
/// may have one mirror: fields that pages do not have are left out of it.
pub fn page_indexes(overflow: &Overflow, collection: Option<&Collection>) -> Vec<RawDocumentBuf> {
    let mut specs = vec![page_index(overflow)];
    let indexes = collection.into_iter().flat_map(|collection| collection.indexes.iter().skip(1));
    let mirrored = indexes.filter_map(|it| mirror::mirrored(overflow, &it.spec));
    mirrored.for_each(|spec| mirror::share(&mut specs, spec));
    specs
}

/// An index of pages, by whatever name.
pub fn find_index<'c>(pages: &'c Collection, spec: &RawDocument) -> Option<&'c Arc<Index>> {
    pages.indexes.iter().find(|index| index.ready && mirror::are_same(&index.spec, spec))
}

/// What a policy needs beside the data and does not find.
pub fn missing(policy: &Policy, catalog: &Catalog) -> Vec<Drift> {
    let drift = |kind, overflow: &Overflow, name: &str| Drift {
        kind,
        id: None,
        path: overflow.path.as_str().to_owned(),
        page: None,
        found: None,
        expected: Some(name.into()),
    };
    let mut missing = Vec::new();
    for overflow in policy.overflows() {
        let pages = catalog.get(&overflow.into);
        let collection = catalog.get(&policy.namespace).map(|collection| &**collection);
        for spec in page_indexes(overflow, collection) {
            if pages.is_none_or(|pages| find_index(pages, &spec).is_none()) {
                let name = get_value(&spec, "name").and_then(|name| name.as_str());
                missing.push(drift(Kind::Index, overflow, name.unwrap_or_default()));
            }
        }
        let view = catalog.get(&overflow.view);
        let options = view_options(policy, overflow);
        if view.is_none_or(|view| !view.is_view() || view.options != options) {
            missing.push(drift(Kind::View, overflow, &overflow.view.collection));
        }
    }
    missing
}

/// The index that finds pages and counts their elements without reading them.
pub fn page_index(overflow: &Overflow) -> RawDocumentBuf {
    let mut spec = DocumentWriter::new();
    spec.append_i32("v", 2);
    spec.begin_document("key");
    for field in [&*overflow.parent_key, "page", "count"] {
        spec.append_i32(field, 1);
    }
    spec.end();
    spec.append_str("name", &format!("{}_1_page_1_count_1", overflow.parent_key));
    spec.finish()
}

/// One document an element: those of the documents as page 0, then the pages'.
fn view_options(policy: &Policy, overflow: &Overflow) -> RawDocumentBuf {
    // Whoever asks for the elements of one document gets there by `_id`, and by the pages' index.
    let elements = |path: &str, parent: &str, page: bson::RawBson| {
        let array = format!("${path}");
        let mut arrays = DocumentWriter::new();
        arrays.append_document(path, &rawdoc! { "$type": "array" });
        let mut item = DocumentWriter::new();
        item.append_i32("_id", 0);
        item.append_str(&overflow.parent_key, parent);
        item.append("page", page.as_raw_bson_ref());
        item.append_str("at", "$at");
        item.append_str("item", &array);
        bson::rawbson!([
            { "$match": arrays.finish() },
            { "$unwind": { "path": array, "includeArrayIndex": "at" } },
            { "$project": item.finish() },
        ])
    };
    let head = elements(overflow.path.as_str(), "$_id", rawdoc! { "$literal": 0 }.into());
    let pages = elements(overflow.name(), &format!("${}", overflow.parent_key), "$page".into());
    let union = rawdoc! {
        "$unionWith": { "coll": &*overflow.into.collection, "pipeline": pages },
    };
    let mut options = RawDocumentBuf::new();
    options.append(bson::cstr!("viewOn"), &*policy.namespace.collection);
    let mut pipeline = bson::RawArrayBuf::new();
    if let bson::RawBson::Array(head) = &head {
        value::element::array_elements(head).for_each(|stage| pipeline.push(stage.value()));
    }
    pipeline.push(union);
    options.append(bson::cstr!("pipeline"), pipeline);
    options
}
