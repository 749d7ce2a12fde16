//! What policies need beside their collections, as data: which collections with which indexes,
//! and which views. Each backend carries it out in its own way.

mod index;
mod mirror;
mod pages;
mod target;
mod view;

pub use index::{answers, are_same, is_hidden, loses_pages, with_hidden};
pub use mirror::{check_sees_all, mirrored};
pub use pages::page_indexes;
pub use target::{GuardedCollection, check_kind, check_validator};
pub use view::{earlier_view_options, view_options};

use crate::Policy;
use crate::patterns::declarations;
use crate::policy::Overflow;
use crate::verify::{Drift, DriftKind};
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use value::Path;
use value::element::get_value;

/// A collection or view that a policy needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Needed {
    pub namespace: Namespace,
    /// The array that it is for.
    pub path: Path,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A collection with these indexes, beside that of `_id`.
    Collection { indexes: Vec<RawDocumentBuf> },
    View {
        options: RawDocumentBuf,
        /// As an earlier version may have made it, which is as good.
        earlier: RawDocumentBuf,
    },
}

/// What a backend has under a name.
pub enum Existing<'a> {
    /// A collection and its indexes, as far as they are ready.
    Collection {
        indexes: Vec<&'a RawDocument>,
    },
    View {
        options: &'a RawDocument,
    },
}

/// What a policy needs, where its collection has these indexes beside that of `_id`.
pub fn needed(policy: &Policy, indexes: &[&RawDocument]) -> Vec<Needed> {
    declarations(policy).flat_map(|pattern| pattern.provides(policy, indexes)).collect()
}

/// What an array that overflows needs.
pub(crate) fn of_overflow(
    policy: &Policy,
    overflow: &Overflow,
    indexes: &[&RawDocument],
) -> Vec<Needed> {
    let needed = |namespace: &Namespace, what| {
        let (namespace, path) = (namespace.clone(), overflow.path.clone());
        Needed { namespace, path, what }
    };
    let indexes = page_indexes(overflow, indexes.iter().copied());
    let mut all = vec![needed(&overflow.into, What::Collection { indexes })];
    if let Some(view) = &overflow.view {
        let options = view_options(policy, overflow);
        let earlier = earlier_view_options(policy, overflow);
        all.push(needed(view, What::View { options, earlier }));
    }
    all
}

impl Needed {
    /// What of it is not there.
    pub fn missing(&self, existing: Option<&Existing<'_>>) -> Vec<Drift> {
        match (&self.what, existing) {
            (What::Collection { indexes }, existing) => {
                let there = match existing {
                    Some(Existing::Collection { indexes }) => &indexes[..],
                    _ => &[],
                };
                let missing =
                    |spec: &&RawDocumentBuf| !there.iter().any(|index| answers(index, spec));
                let name = |spec: &RawDocumentBuf| {
                    let name = get_value(spec, "name").and_then(|name| name.as_str());
                    self.drift(DriftKind::Index, name.unwrap_or_default())
                };
                indexes.iter().filter(missing).map(name).collect()
            }
            (What::View { options, earlier }, Some(Existing::View { options: there }))
                if **options == **there || **earlier == **there =>
            {
                Vec::new()
            }
            (What::View { .. }, _) => vec![self.drift(DriftKind::View, &self.namespace.collection)],
        }
    }

    fn drift(&self, kind: DriftKind, name: &str) -> Drift {
        let (path, expected) = (self.path.as_str().to_owned(), Some(name.into()));
        Drift { kind, id: None, path, page: None, found: None, expected }
    }
}
