//! The change of one index.

use super::invalid;
use crate::catalog::{Collection, Index};
use crate::run::drop_indexes::same_key;
use bson::RawDocumentBuf;
use command::ReplyWriter;
use command::fields::Hint;
use command::views::IndexChange;
use error::{Code, Result};
use std::sync::Arc;
use value::DocumentWriter;

/// An index's new specification, and what changed in it.
pub struct Altered {
    pub name: String,
    pub spec: RawDocumentBuf,
    seconds: Option<(Option<i64>, i64)>,
    hidden: Option<(bool, bool)>,
}

impl Altered {
    pub fn new(collection: &Collection, change: &IndexChange<'_>) -> Result<Altered> {
        let index = find(collection, change.index)?;
        check_unique(index, change)?;
        let old = index.expire_after_seconds;
        let new = change.expire_after_seconds.map(i64::from);
        if new.is_some() {
            check_expiry(index)?;
        }
        if change.hidden == Some(true) && index.is_id() {
            return Err(Code::BadValue.error("can't hide _id index"));
        }
        let mut altered = Altered {
            name: index.name.clone(),
            spec: index.spec.clone(),
            seconds: new.filter(|new| old != Some(*new)).map(|new| (old, new)),
            hidden: change
                .hidden
                .filter(|hidden| *hidden != index.hidden)
                .map(|hidden| (index.hidden, hidden)),
        };
        altered.spec = altered.specification(index);
        Ok(altered)
    }

    fn specification(&self, index: &Index) -> RawDocumentBuf {
        let mut writer = DocumentWriter::new();
        for option in value::elements(&index.spec) {
            let changed = match option.key {
                "hidden" => self.hidden.is_some(),
                "expireAfterSeconds" => self.seconds.is_some(),
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

/// Only what is unique already may be made unique.
fn check_unique(index: &Index, change: &IndexChange<'_>) -> Result<()> {
    if index.unique {
        return Ok(());
    }
    if change.prepare_unique == Some(true) {
        return Err(Code::CommandNotSupported
            .error("an index cannot be made unique in place; drop it and create a unique one"));
    }
    match change.unique {
        Some(_) => Err(invalid(
            "Cannot make index unique without 'prepareUnique: true' before; drop the index and \
             create a unique one",
        )),
        None => Ok(()),
    }
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
