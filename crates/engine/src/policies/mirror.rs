//! Indexes that name an array which overflows are mirrored on its pages.

use super::pages::{find_index, page_indexes};
use crate::Engine;
use crate::catalog::{Collection, Index};
use crate::define::{Created, Definition, Progress};
use crate::operation::{held_up, unless_stopped};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use guard::policy::Overflow;
use guard::{Policy, Table};
use std::sync::Arc;
use value::element::get_value;
use value::order::compare;
use value::{DocumentWriter, Path, elements};

/// The options that a mirrored index takes over.
const TAKEN_OVER: &[&str] = &["sparse", "collation"];

impl Engine {
    /// Makes indexes together with their mirrors on the pages: all of them, or none.
    pub async fn create_mirrored_indexes(
        self: &Arc<Self>,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
        progress: &Progress,
    ) -> Result<Created> {
        let created_collection = self.registry.get(namespace).is_none();
        let collection = self.ensure(namespace).await?;
        // Whoever asks for the same must not be told of indexes that are taken back.
        let _turn = match overflows(&self.policies.current(), namespace).next() {
            Some(_) => Some(unless_stopped(held_up(collection.state.mirroring.lock())).await?),
            None => None,
        };
        let created = self.create_indexes(namespace, specs, progress).await?;
        if let Err(error) = self.mirror_some(namespace, specs).await {
            self.take_back(namespace, &created).await?;
            return Err(error);
        }
        Ok(Created { created_collection, ..created })
    }

    /// Drops indexes that could not be mirrored, and what was mirrored of them.
    async fn take_back(self: &Arc<Self>, namespace: &Namespace, created: &Created) -> Result<()> {
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

fn name(spec: &RawDocument) -> &str {
    get_value(spec, "name").and_then(|name| name.as_str()).unwrap_or_default()
}

/// The index of the pages that mirrors one of the collection; `None` if that one
/// does not name the array. Fields that pages do not have are left out.
pub fn mirrored(overflow: &Overflow, spec: &RawDocument) -> Option<RawDocumentBuf> {
    let key = get_value(spec, "key")?.as_document()?;
    let mut mirrored = DocumentWriter::new();
    mirrored.append_i32("v", 2);
    mirrored.begin_document("key");
    let mut any = false;
    for field in elements(key) {
        let path = Path::new(field.key);
        if overflow.path.is_prefix_of(&path) {
            let below = path.tail(overflow.path.len());
            let name = match below {
                "" => overflow.name().to_owned(),
                below => format!("{}.{below}", overflow.name()),
            };
            mirrored.copy_as(&name, field);
            any = true;
        }
    }
    mirrored.end();
    mirrored.append_str("name", get_value(spec, "name")?.as_str()?);
    for option in elements(spec).filter(|option| TAKEN_OVER.contains(&option.key)) {
        mirrored.copy(option);
    }
    if is_set(spec, "hidden") {
        mirrored.append_bool("hidden", true);
    }
    any.then(|| mirrored.finish())
}

/// Adds an index of pages. One that is there already is shared, and hidden only where
/// both are.
pub fn share(specs: &mut Vec<RawDocumentBuf>, spec: RawDocumentBuf) {
    match specs.iter_mut().find(|earlier| are_same(earlier, &spec)) {
        Some(earlier) if is_hidden(earlier) && !is_hidden(&spec) => {
            *earlier = with_hidden(earlier, false)
        }
        Some(_) => {}
        None => specs.push(spec),
    }
}

/// The index, hidden or not.
pub fn with_hidden(spec: &RawDocument, hidden: bool) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    elements(spec).filter(|option| option.key != "hidden").for_each(|option| out.copy(option));
    if hidden {
        out.append_bool("hidden", true);
    }
    out.finish()
}

pub fn is_hidden(spec: &RawDocument) -> bool {
    is_set(spec, "hidden")
}

fn is_set(spec: &RawDocument, option: &str) -> bool {
    get_value(spec, option).and_then(|it| it.as_bool()) == Some(true)
}

/// Whether two indexes of pages are the same by value, be their names as they may: as they
/// are where indexes are made, or one that is there would be missed for ever.
pub fn are_same(one: &RawDocument, other: &RawDocument) -> bool {
    let mut parts = ["key"].iter().chain(TAKEN_OVER);
    parts.all(|part| match (given(one, part), given(other, part)) {
        (Some(one), Some(other)) => compare(one, other).is_eq(),
        (one, other) => one.is_none() && other.is_none(),
    })
}

/// An option of an index; false is the same as nothing.
fn given<'a>(spec: &'a RawDocument, option: &str) -> Option<RawBsonRef<'a>> {
    get_value(spec, option).filter(|it| *it != RawBsonRef::Boolean(false))
}

/// Whether an index names the array, or something in it.
fn names(overflow: &Overflow, spec: &RawDocument) -> bool {
    let key = get_value(spec, "key").and_then(|key| key.as_document());
    key.is_some_and(|key| elements(key).any(|it| Path::new(it.key).overlaps(&overflow.path)))
}

/// Whether an index takes a key once, or is prepared to.
pub fn refuses_documents(spec: &RawDocument) -> bool {
    is_set(spec, "unique") || is_set(spec, "prepareUnique")
}

/// Whether an index refuses or deletes documents.
pub fn loses_pages(spec: &RawDocument) -> bool {
    refuses_documents(spec) || get_value(spec, "expireAfterSeconds").is_some()
}

/// Refuses indexes over an array that overflows that must see all of its elements, which are in
/// many documents: unique ones, and those that let documents expire.
pub fn check_sees_all<'a>(
    overflow: &Overflow,
    specs: impl Iterator<Item = &'a RawDocument>,
) -> Result<()> {
    for spec in specs {
        if loses_pages(spec) && names(overflow, spec) {
            let (kind, expected) = match refuses_documents(spec) {
                true => ("unique", "is not unique"),
                false => ("TTL", "lets nothing expire"),
            };
            let name = name(spec);
            return Err(Code::CannotCreateIndex.error(format!(
                "the array '{path}' overflows (the policy key 'arrays.{path}.on_limit'), and the \
                 {kind} index '{name}' names it: elements in pages would not be seen; expected an \
                 index that {expected}",
                path = overflow.path
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn the_arrays_fields_are_mirrored() {
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = rawdoc! { "arrays": { "p.list": { "max": 2, "on_limit": "overflow" } } };
        let policy = Policy::parse(&namespace, &policy).unwrap();
        let overflow = policy.overflows().next().unwrap();
        let of = |key: RawDocumentBuf| {
            let spec = rawdoc! { "v": 2, "key": key, "name": "x", "sparse": true };
            mirrored(overflow, &spec)
        };
        let expected = rawdoc! { "v": 2, "key": { "list.kind": -1 }, "name": "x", "sparse": true };
        assert_eq!(of(rawdoc! { "a": 1, "p.list.kind": -1 }), Some(expected));
        assert_eq!(of(rawdoc! { "a": 1, "p.listing": 1 }), None);
    }

    #[test]
    fn indexes_are_the_same_by_value() {
        let one = rawdoc! { "key": { "a": 1 }, "name": "a", "sparse": false };
        assert!(are_same(&one, &rawdoc! { "key": { "a": 1.0 }, "name": "b" }));
        assert!(!are_same(&one, &rawdoc! { "key": { "a": 1 }, "name": "a", "sparse": true }));
        assert!(!are_same(&one, &rawdoc! { "key": { "a": -1 }, "name": "a" }));
    }
}
