//! An index's definition.

use super::{Accesses, Multikey, options};
use crate::storage::IndexId;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use language::query::Filter;
use language::{Context, Needs};
use std::sync::Arc;
use value::element::{elements, get};
use value::number::Number;
use value::{Collator, Path};

#[derive(Debug)]
pub struct Index {
    /// The prefix of its entries' keys; never reused.
    pub id: IndexId,
    pub name: String,
    pub fields: Vec<IndexField>,
    /// No two documents have a key in common.
    pub unique: bool,
    /// No further document gets a key that another has, though some may share one already.
    pub prepare_unique: bool,
    /// Entries are stored by the key alone. Otherwise the record follows it: so it is in an
    /// index that was made unique after it was built, too.
    pub bare_keys: bool,
    pub sparse: bool,
    pub hidden: bool,
    /// False while it is being built: written to, not read from.
    pub ready: bool,
    pub partial: Option<Filter>,
    pub expire_after_seconds: Option<i64>,
    pub collator: Option<Collator>,
    /// Shared by its successive definitions, and so are the accesses.
    pub multikey: Arc<Multikey>,
    pub accesses: Arc<Accesses>,
    /// `{v: 2, key, name, …}` as `listIndexes` shows it.
    pub spec: RawDocumentBuf,
}

#[derive(Debug)]
pub struct IndexField {
    pub path: Path,
    pub kind: IndexKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    Ascending,
    Descending,
    Hashed,
    /// `$**` or `path.$**`; `path` is what stands before `$**`, empty for all.
    Wildcard,
}

impl Index {
    /// From a specification that `createIndexes` has checked.
    pub fn from_spec(id: IndexId, spec: &RawDocument, ready: bool) -> Result<Index> {
        let document = |key| get(spec, key).and_then(|element| element.value().as_document());
        let key = document("key").ok_or_else(|| {
            Code::DataCorruptionDetected
                .error("an index's definition has no key; restore the store")
        })?;
        let partial = document("partialFilterExpression");
        let collation = document("collation");
        let unique = options::flag(spec, "unique") || is_id(key);
        Ok(Index {
            id,
            name: get(spec, "name")
                .and_then(|name| name.value().as_str())
                .unwrap_or_default()
                .into(),
            fields: elements(key).map(|field| IndexField::new(field.key, field.value())).collect(),
            unique,
            prepare_unique: options::flag(spec, "prepareUnique"),
            bare_keys: unique,
            sparse: options::flag(spec, "sparse"),
            hidden: options::flag(spec, "hidden"),
            ready,
            partial: partial.map(|partial| Filter::parse(partial, &Context::new())).transpose()?,
            expire_after_seconds: get(spec, "expireAfterSeconds")
                .and_then(|seconds| Number::from_value(seconds.value()))
                .and_then(|seconds| seconds.to_i64_truncated()),
            collator: collation.map(Collator::parse).transpose()?.flatten(),
            multikey: Arc::default(),
            accesses: Arc::default(),
            spec: spec.to_owned(),
        })
    }

    /// The same entries under another specification.
    pub fn altered(&self, spec: &RawDocument, ready: bool) -> Result<Index> {
        let altered = Index::from_spec(self.id, spec, ready)?;
        let (multikey, accesses) = (self.multikey.clone(), self.accesses.clone());
        Ok(Index { multikey, accesses, bare_keys: self.bare_keys, ..altered })
    }

    /// Whether a document that gets a key must be the only one that has it. What is being
    /// built is only prepared when it is done: it may have been shared before.
    pub fn is_exclusive(&self) -> bool {
        self.unique || self.prepare_unique && self.ready
    }

    /// The index on `_id` alone.
    pub fn is_id(&self) -> bool {
        matches!(&self.fields[..], [field] if field.path.as_str() == "_id"
            && matches!(field.kind, IndexKind::Ascending))
    }

    /// What its keys depend on in a document.
    pub fn needs(&self, needs: &mut Needs) {
        for field in &self.fields {
            match field.kind {
                IndexKind::Wildcard if field.path.as_str().is_empty() => needs.all(),
                _ => needs.add(&field.path),
            }
        }
        if let Some(partial) = &self.partial {
            partial.needs(needs);
        }
    }

    pub fn key_pattern(&self) -> &RawDocument {
        get(&self.spec, "key").and_then(|key| key.value().as_document()).unwrap_or(&self.spec)
    }
}

fn is_id(key: &RawDocument) -> bool {
    let mut fields = elements(key);
    let first =
        fields.next().is_some_and(|field| field.key == "_id" && field.value().as_str().is_none());
    first && fields.next().is_none()
}

impl IndexField {
    fn new(path: &str, kind: RawBsonRef<'_>) -> IndexField {
        let wildcard = match path {
            "$**" => Some(""),
            path => path.strip_suffix(".$**"),
        };
        if let Some(path) = wildcard {
            return IndexField { path: Path::new(path), kind: IndexKind::Wildcard };
        }
        let kind = match kind {
            RawBsonRef::String("hashed") => IndexKind::Hashed,
            kind => match Number::from_value(kind).map(|number| number.to_f64()) {
                Some(number) if number < 0.0 => IndexKind::Descending,
                _ => IndexKind::Ascending,
            },
        };
        IndexField { path: Path::new(path), kind }
    }
}
