//! What is kept of a collection once it has been looked at: little, since there may be
//! thousands.

use super::census::{Census, Tree};
use super::facts::{Collection, Kind, Lookup, Operation, lookups};
use crate::report;
use bson::spec::ElementType;
use command::Namespace;

/// The arrays of a collection that the report shows.
const ARRAYS_SHOWN_MAX: usize = 10;
/// The fields of a collection's shape.
const FIELDS_MAX: usize = 100;
/// A field belongs to the shape if this share of the documents has it.
const FIELD_SHARE_MIN: f64 = 0.1;
/// Small fields that are worth a copy: how many, how long, in what share of the documents.
const SCALARS_MAX: usize = 4;
const SCALAR_BYTES_MAX: u64 = 100;
const SCALAR_SHARE_MIN: f64 = 0.5;
/// References whose use is kept.
const FOLLOWED_MAX: usize = 20;

#[derive(Debug, Clone)]
pub struct Outline {
    pub namespace: Namespace,
    pub kind: Kind,
    pub documents: u64,
    /// The names of the fields on top, in order; empty where no document was seen.
    pub fields: Vec<String>,
    /// Fields on top with small values, as the documents have them.
    pub scalars: Vec<String>,
    pub indexes: usize,
    /// Whether no other collection has the same `_id`s: they are made to be unique.
    pub unique_ids: bool,
    /// Reads of the collection, where the server keeps a record,
    pub reads: u64,
    /// and the references that they follow by `$lookup`.
    pub followed: Vec<Followed>,
}

/// A reference that reads follow.
#[derive(Debug, Clone)]
pub struct Followed {
    pub lookup: Lookup,
    /// Whether a document refers to many: the field is in an array.
    pub many: bool,
    /// Whether the documents hold a copy already: what is on record is older.
    pub copied: bool,
    pub count: u64,
    pub shapes: u64,
    pub millis: u64,
    pub examined: u64,
}

impl Outline {
    pub fn new(collection: &Collection, census: &Census) -> Outline {
        let seen = census.documents() as f64;
        let mut fields: Vec<String> = census
            .tree
            .children(Tree::ROOT)
            .filter(|(_, node)| node.count as f64 >= seen * FIELD_SHARE_MIN)
            .map(|(_, node)| node.key.to_string())
            .take(FIELDS_MAX)
            .collect();
        fields.sort();
        let reads = collection.operations.iter().filter(|it| it.is_read());
        Outline {
            namespace: collection.namespace.clone(),
            kind: collection.kind,
            documents: collection.documents.unwrap_or(census.documents()),
            fields,
            scalars: scalars(census),
            indexes: collection.indexes.len(),
            unique_ids: census
                .tree
                .find("_id")
                .is_none_or(|id| id.is_of(&[ElementType::ObjectId, ElementType::Binary])),
            reads: reads.map(|read| read.count).sum(),
            followed: followed(collection, census),
        }
    }
}

fn scalars(census: &Census) -> Vec<String> {
    let seen = census.documents() as f64;
    let tree = &census.tree;
    let fields = tree.children(Tree::ROOT).filter(|(id, node)| {
        let plain = node.array.is_none() && tree.children(*id).next().is_none();
        let small = node.bytes <= SCALAR_BYTES_MAX * node.count;
        &*node.key != "_id" && plain && small && node.count as f64 >= seen * SCALAR_SHARE_MIN
    });
    fields.map(|(_, node)| node.key.to_string()).take(SCALARS_MAX).collect()
}

/// The references that are followed, each with the fields that any read uses.
fn followed(collection: &Collection, census: &Census) -> Vec<Followed> {
    let mut all: Vec<Followed> = Vec::new();
    let asked = collection.operations.iter();
    for (operation, lookup) in asked.flat_map(|it| lookups(it).into_iter().map(move |l| (it, l))) {
        let reference = |it: &Lookup| (it.from.clone(), it.local.clone(), it.foreign.clone());
        let known = all.iter().position(|it| reference(&it.lookup) == reference(&lookup));
        if known.is_none() && all.len() == FOLLOWED_MAX {
            continue;
        }
        let mut one = match known {
            Some(at) => all.swap_remove(at),
            None => Followed::new(&lookup, census),
        };
        one.add(operation, &lookup);
        all.push(one);
    }
    all.sort_by_key(|it| std::cmp::Reverse(it.count));
    all
}

impl Followed {
    fn new(lookup: &Lookup, census: &Census) -> Followed {
        let node = census.tree.find(&lookup.local);
        let many = node.is_some_and(|node| node.in_array || node.array.is_some());
        let copied = is_copied(lookup, &census.tree);
        let lookup = lookup.clone();
        Followed { lookup, many, copied, count: 0, shapes: 0, millis: 0, examined: 0 }
    }

    fn add(&mut self, operation: &Operation, lookup: &Lookup) {
        self.count += operation.count;
        self.shapes += 1;
        self.millis += operation.millis;
        self.examined += operation.documents_examined;
        // Where one of them uses all of what it finds, nobody knows which fields are enough.
        let known = &mut self.lookup.fields;
        if lookup.fields.is_empty() || known.is_empty() {
            return known.clear();
        }
        let new: Vec<String> =
            lookup.fields.iter().filter(|field| !known.contains(field)).cloned().collect();
        known.extend(new);
    }
}

/// Whether what a lookup finds is in the document, where the cure puts it.
fn is_copied(lookup: &Lookup, tree: &Tree) -> bool {
    let wanted = || lookup.fields.iter().filter(|field| *field != "_id");
    let has = |place: &String| {
        let known = wanted().all(|field| tree.find(&format!("{place}.{field}")).is_some());
        known && tree.has_fields(place)
    };
    [lookup.into.clone(), copy_name(&lookup.into)].iter().any(has)
}

/// Where a copy goes if something is in its place.
pub fn copy_name(into: &str) -> String {
    format!("{into}_copy")
}

/// The part of the report about a collection.
pub fn shown(collection: &Collection, census: &Census, whole: bool) -> report::Collection {
    let arrays = census.arrays().into_iter().take(ARRAYS_SHOWN_MAX);
    report::Collection {
        namespace: collection.namespace.to_string(),
        kind: collection.kind.name().to_owned(),
        documents: collection.documents,
        scanned: census.documents(),
        whole,
        indexes: collection.indexes.len(),
        sizes: (census.documents() > 0).then(|| census.sizes.spread()),
        arrays: arrays
            .map(|(path, array)| report::Array { path, lengths: array.lengths.spread() })
            .collect(),
    }
}
