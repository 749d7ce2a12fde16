//! The change of one index.

use super::invalid;
use crate::catalog::{Collection, Index, IndexKind};
use crate::run::drop_indexes::same_key;
use bson::RawDocumentBuf;
use command::ReplyWriter;
use command::fields::Hint;
use command::views::IndexChange;
use error::{Code, Result};
use std::sync::Arc;
use value::DocumentWriter;
use value::element::get_value;

/// An index's new specification, and what changed in it.
pub struct Altered {
    pub index: Arc<Index>,
    pub spec: RawDocumentBuf,
    /// It becomes unique.
    pub unique: bool,
    prepare_unique: Option<(bool, bool)>,
    seconds: Option<(Option<i64>, i64)>,
    hidden: Option<(bool, bool)>,
}

impl Altered {
    pub fn new(collection: &Collection, change: &IndexChange<'_>) -> Result<Altered> {
        let wanted = change.check()?;
        if change.hidden.is_some() && is_cluster_key(collection, wanted) {
            return Err(Code::location(6011800)
                .error("The 'hidden' option is not supported for a clusteredIndex"));
        }
        let index = find(collection, wanted)?;
        let old = index.expire_after_seconds;
        let new = change.expire_after_seconds.map(i64::from);
        if new.is_some() && old.is_none() {
            check_expiry(index)?;
        }
        let unique = becomes_unique(index, change)?;
        if change.hidden.is_some() && index.is_id() {
            return Err(Code::BadValue.error("can't hide _id index"));
        }
        check_force_non_unique(index, change)?;
        let mut altered = Altered {
            index: index.clone(),
            spec: index.spec.clone(),
            unique,
            prepare_unique: prepared(index, change)?,
            seconds: new.map(|new| (old, new)),
            hidden: change
                .hidden
                .filter(|hidden| *hidden != index.hidden)
                .map(|hidden| (index.hidden, hidden)),
        };
        altered.spec = altered.specification(index);
        Ok(altered)
    }

    /// Whether the index is prepared for becoming unique, or no longer is.
    pub fn prepares(&self) -> bool {
        self.prepare_unique.is_some()
    }

    fn specification(&self, index: &Index) -> RawDocumentBuf {
        let mut writer = DocumentWriter::new();
        for option in value::elements(&index.spec) {
            let changed = match option.key {
                "hidden" => self.hidden.is_some(),
                "expireAfterSeconds" => self.seconds.is_some(),
                "prepareUnique" => self.unique || self.prepare_unique.is_some(),
                _ => false,
            };
            if !changed {
                writer.copy(option);
            }
        }
        if let Some((_, true)) = self.hidden {
            writer.append_bool("hidden", true);
        }
        if let Some((_, seconds)) = self.seconds {
            writer.append_i64("expireAfterSeconds", seconds);
        }
        if self.unique {
            writer.append_bool("unique", true);
        } else if let Some((_, true)) = self.prepare_unique {
            writer.append_bool("prepareUnique", true);
        }
        writer.finish()
    }

    /// What changed, from what and to what.
    pub fn append(&self, reply: &mut ReplyWriter) {
        if let Some((old, new)) = self.seconds {
            if let Some(old) = old {
                reply.append("expireAfterSeconds_old", old);
            }
            reply.append("expireAfterSeconds_new", new);
        }
        if let Some((old, new)) = self.hidden {
            reply.append("hidden_old", old).append("hidden_new", new);
        }
        if self.unique {
            reply.append("unique_new", true);
        }
        if let Some((old, new)) = self.prepare_unique {
            reply.append("prepareUnique_old", old).append("prepareUnique_new", new);
        }
    }
}

fn find<'c>(collection: &'c Collection, wanted: Hint<'_>) -> Result<&'c Arc<Index>> {
    let namespace = &collection.namespace;
    match wanted {
        Hint::Name(name) => collection.index(name).ok_or_else(|| {
            Code::IndexNotFound.error(format!("cannot find index {name} for ns {namespace}"))
        }),
        Hint::Key(key) => {
            let indexes = collection.indexes.iter();
            let found: Vec<_> =
                indexes.filter(|index| same_key(index.key_pattern(), key)).collect();
            match found[..] {
                [index] => Ok(index),
                [] => Err(Code::IndexNotFound.error(format!(
                    "cannot find index {} for ns {namespace}",
                    value::text::document(key)
                ))),
                _ => Err(Code::AmbiguousIndexKeyPattern.error(format!(
                    "index keyPattern {} matches {} indexes, must use index name",
                    value::text::document(key),
                    found.len()
                ))),
            }
        }
    }
}

/// Whether the index is to become unique, which must have been prepared.
fn becomes_unique(index: &Index, change: &IndexChange<'_>) -> Result<bool> {
    if change.unique == Some(false) {
        return Err(Code::BadValue.error("Cannot make index non-unique"));
    }
    if change.unique.is_none() || index.unique {
        return Ok(false);
    }
    match index.prepare_unique {
        true => Ok(true),
        false => Err(invalid(
            "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.",
        )),
    }
}

/// What becomes of `prepareUnique`, of which a unique index has no need.
fn prepared(index: &Index, change: &IndexChange<'_>) -> Result<Option<(bool, bool)>> {
    let old = index.prepare_unique;
    let Some(new) = change.prepare_unique.filter(|new| *new != old && !index.unique) else {
        return Ok(None);
    };
    let plain = |kind| matches!(kind, IndexKind::Ascending | IndexKind::Descending);
    if !index.fields.iter().all(|field| plain(field.kind)) {
        return Err(invalid("hashed and wildcard indexes cannot be made unique"));
    }
    Ok(Some((old, new)))
}

/// A unique index stays unique here.
fn check_force_non_unique(index: &Index, change: &IndexChange<'_>) -> Result<()> {
    match change.force_non_unique {
        Some(false) => Err(Code::BadValue.error("'forceNonUnique: false' is not supported")),
        Some(true) if index.unique => Err(Code::CommandNotSupported
            .error("'forceNonUnique' is not supported by this server; drop and create the index")),
        _ => Ok(()),
    }
}

/// Whether the order that the collection itself is kept in is meant.
fn is_cluster_key(collection: &Collection, wanted: Hint<'_>) -> bool {
    collection.clustered_index().is_some_and(|options| match wanted {
        Hint::Name(name) => get_value(options, "name").and_then(|it| it.as_str()) == Some(name),
        Hint::Key(key) => get_value(options, "key")
            .and_then(|it| it.as_document())
            .is_some_and(|own| same_key(own, key)),
    })
}

fn check_expiry(index: &Index) -> Result<()> {
    if index.is_id() {
        return Err(invalid("the _id field does not support TTL indexes"));
    }
    if index.fields.len() > 1 {
        return Err(invalid(
            "TTL indexes are single-field indexes, compound indexes do not support TTL",
        ));
    }
    Ok(())
}
