//! The collections and views that overflow needs.

use crate::Engine;
use crate::catalog::Collection;
use crate::define::{New, Progress};
use bson::{RawDocumentBuf, rawdoc};
use command::Namespace;
use error::{Code, Result};
use guard::Policy;
use guard::policy::Overflow;
use std::sync::Arc;
use value::DocumentWriter;

impl Engine {
    /// Makes what the overflows of a policy write to, as far as it is not there.
    pub(super) async fn make_pages(self: &Arc<Self>, policy: &Policy) -> Result<()> {
        policy.overflows().try_for_each(|overflow| self.check_names(policy, overflow))?;
        for overflow in policy.overflows() {
            let mut specs = vec![page_index(overflow)];
            if let Some(collection) = self.registry.get(&policy.namespace) {
                let indexes = collection.indexes.iter().skip(1);
                specs.extend(indexes.filter_map(|it| super::mirror::mirrored(overflow, &it.spec)));
            }
            self.create_indexes(&overflow.into, &specs, &Progress::default()).await?;
            self.make_view(policy, overflow).await?;
        }
        Ok(())
    }

    /// Refuses names under which something else is already.
    fn check_names(&self, policy: &Policy, overflow: &Overflow) -> Result<()> {
        if self.registry.get(&overflow.into).is_some_and(|it| it.is_view() || it.is_capped()) {
            return Err(Code::BadValue.error(format!(
                "the policy key 'arrays.{}.overflow.into' names '{}', which is a view or capped; \
                 expected an ordinary collection",
                overflow.path, overflow.into
            )));
        }
        let own = self.policies.is_view_of(&overflow.view, &policy.namespace);
        match self.registry.get(&overflow.view) {
            Some(existing) if !own || !existing.is_view() => {
                Err(Code::NamespaceExists.error(format!(
                    "'{}' is to be the view of all elements, and is there already; expected a \
                     name that is free (overflow.into, with _all behind it)",
                    overflow.view
                )))
            }
            _ => Ok(()),
        }
    }

    /// Drops a collection. Its policy stays, and so do the collections of its
    /// pages, emptied.
    pub async fn drop_with_pages(
        self: &Arc<Self>,
        namespace: &Namespace,
    ) -> Result<Option<Arc<Collection>>> {
        if self.policies.get(namespace).is_none() {
            return self.drop_collection(namespace).await;
        }
        let _turn = self.policies.changes.lock().await;
        let table = self.policies.current();
        let overflows = table.policy(namespace).into_iter().flat_map(Policy::overflows);
        let pages: Vec<&Namespace> = overflows.map(|overflow| &overflow.into).collect();
        self.drop_emptying(namespace, &pages).await
    }

    /// Mirrors new indexes of a collection on the pages of its arrays.
    pub async fn mirror_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
    ) -> Result<()> {
        let table = self.policies.current();
        for overflow in table.policy(namespace).into_iter().flat_map(Policy::overflows) {
            let specs: Vec<_> =
                specs.iter().filter_map(|spec| super::mirror::mirrored(overflow, spec)).collect();
            if !specs.is_empty() {
                self.create_indexes(&overflow.into, &specs, &Progress::default()).await?;
            }
        }
        Ok(())
    }

    /// Drops what was mirrored of indexes that are no more.
    pub async fn remove_mirrored_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        names: &[String],
    ) -> Result<()> {
        let table = self.policies.current();
        for overflow in table.policy(namespace).into_iter().flat_map(Policy::overflows) {
            self.remove_indexes(&overflow.into, names).await?;
        }
        Ok(())
    }

    async fn make_view(self: &Arc<Self>, policy: &Policy, overflow: &Overflow) -> Result<()> {
        let options = view_options(policy, overflow);
        match self.registry.get(&overflow.view) {
            Some(existing) if existing.options == options => return Ok(()),
            Some(_) => {
                self.drop_collection(&overflow.view).await?;
            }
            None => {}
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
