//! A collection with indexes and documents, on a store that is never written to:
//! everything lies in a layer on top of it.

use crate::catalog::{Collection, CollectionKind, Index};
use crate::index;
use crate::plan::choose::choose;
use crate::plan::{Execution, Hint, Interrupt, Plan, Query, Sort, Stage, open};
use crate::storage::layered::Layered;
use crate::storage::{
    CollectionId, Counts, IndexId, NoBooks, Overlay, RecordId, Store, Tree, View, entry, keys,
    large,
};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use command::Namespace;
use error::Result;
use language::Context;
use language::projection::Projection;
use language::query::Filter;
use std::sync::{Arc, LazyLock};

const COLLECTION: CollectionId = CollectionId(9);

/// Empty, and shared by all tests.
static STORE: LazyLock<(tempfile::TempDir, Store)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let store = Store::open(directory.path(), Arc::new(NoBooks)).expect("opens");
    (directory, store)
});

pub struct World {
    pub collection: Arc<Collection>,
    pub view: View,
    pub documents: Vec<RawDocumentBuf>,
}

/// `{key: {…}, …}`, completed with a name.
pub fn spec(given: &RawDocument) -> RawDocumentBuf {
    let mut spec = rawdoc! { "v": 2 };
    for element in value::elements(given) {
        spec.append(bson_key(element.key), element.value());
    }
    if value::element::get(given, "name").is_none() {
        let key = value::element::get(given, "key").expect("a key").value();
        let RawBsonRef::Document(key) = key else { panic!("a key pattern") };
        let parts: Vec<String> = value::elements(key)
            .map(|field| format!("{}_{}", field.key, value::text::value(field.value())))
            .collect();
        spec.append(bson_key("name"), parts.join("_").replace('"', ""));
    }
    spec
}

fn bson_key(key: &str) -> bson::raw::CString {
    key.try_into().expect("no zero byte")
}

impl World {
    pub fn new(indexes: &[RawDocumentBuf], documents: Vec<RawDocumentBuf>) -> World {
        World::with_collation(indexes, documents, None)
    }

    pub fn with_collation(
        indexes: &[RawDocumentBuf],
        documents: Vec<RawDocumentBuf>,
        collator: Option<value::Collator>,
    ) -> World {
        let mut all = vec![spec(&rawdoc! { "key": { "_id": 1 }, "name": "_id_" })];
        all.extend(indexes.iter().map(|index| spec(index)));
        let indexes: Vec<Arc<Index>> = (100..)
            .zip(&all)
            .map(|(id, spec)| Index::from_spec(IndexId(id), spec, true).expect("an index"))
            .map(Arc::new)
            .collect();
        let collection = Arc::new(Collection {
            namespace: Namespace::new("test", "things").expect("a name"),
            id: COLLECTION,
            uuid: bson::Uuid::new(),
            kind: CollectionKind::Ordinary,
            options: RawDocumentBuf::new(),
            indexes,
            validator: None,
            collator: collator.map(Arc::new),
            state: Arc::default(),
        });
        let changes = changes(&STORE.1, &collection, &documents);
        let view = STORE.1.view().layered(|base| Arc::new(Layered { base, changes }));
        World { collection, view, documents }
    }

    pub fn open(&self, query: Query) -> Result<Execution> {
        open(&self.collection, query, self.view.clone(), Interrupt::default())
    }

    /// The documents a query gives.
    pub fn run(&self, query: Query) -> Result<Vec<RawDocumentBuf>> {
        self.open(query)?.map(|row| row.map(|row| row.document.into())).collect()
    }

    /// The first candidate by rule.
    pub fn plan(&self, query: Query) -> Plan {
        choose(Some(&self.collection), &Arc::new(query)).expect("a plan").remove(0)
    }
}

fn changes(store: &Store, collection: &Collection, documents: &[RawDocumentBuf]) -> Overlay {
    let mut changes = Overlay::default();
    for (record, document) in (1..).map(RecordId).zip(documents) {
        let split = large::split(document, None, store.secret(), &[]);
        let key = keys::record(collection.id, record);
        changes.insert(Tree::Records, key.into(), Some(split.record.into()));
        for (number, value) in split.values {
            let key = keys::large(collection.id, record, number);
            changes.insert(Tree::Large, key.into(), Some(value));
        }
        for index in &collection.indexes {
            let keys = index::keys(index, document).expect("keys");
            index.multikey.set(&keys.arrays);
            for key in keys.keys {
                let at = entry::place(index.id, &key.bytes, (!index.unique).then_some(record));
                let value = entry::value(key, index.unique.then_some(record));
                let before = changes.insert(Tree::Entries, at.into(), Some(value.into()));
                assert!(before.is_none(), "a duplicate key in {}", index.name);
            }
        }
    }
    let counts = Counts { documents: documents.len() as u64, bytes: 0 };
    changes.insert(Tree::Records, keys::counts(collection.id), Some(counts.write().into()));
    changes
}

/// A query from a filter.
pub fn query(filter: &RawDocument) -> Query {
    let filter = Filter::parse(filter, &Context::new()).expect("a filter");
    Query::new(Arc::new(filter))
}

impl Query {
    pub fn sorted(mut self, sort: &RawDocument) -> Query {
        self.sort = Sort::parse(sort).expect("a sort");
        self
    }

    pub fn projected(mut self, spec: &RawDocument) -> Query {
        let projection = Projection::parse(spec, Some(&self.filter), &Context::new());
        self.projection = Some(Arc::new(projection.expect("a projection")));
        self.projection_spec = Some(spec.to_owned());
        self
    }

    pub fn limited(mut self, limit: u64) -> Query {
        self.limit = Some(limit);
        self
    }

    pub fn skipping(mut self, skip: u64) -> Query {
        self.skip = skip;
        self
    }

    pub fn hinted(mut self, name: &str) -> Query {
        self.hint = Some(Hint::Name(name.to_owned()));
        self
    }
}

/// A plan on one line: `FETCH(IXSCAN a_1)`.
pub fn summary(stage: &Stage) -> String {
    let name = stage.name();
    let of = match stage {
        Stage::IndexScan(scan) | Stage::CountScan(scan) | Stage::DistinctScan { scan, .. } => {
            let back = if scan.scan == crate::plan::Scan::Backward { " backward" } else { "" };
            let filter = if scan.filter.is_some() { " filter" } else { "" };
            format!("{name} {}{back}{filter}", scan.index.name)
        }
        Stage::CollectionScan(scan) if scan.filter.is_some() => format!("{name} filter"),
        Stage::Fetch { filter: Some(_), .. } => format!("{name} filter"),
        _ => name.to_owned(),
    };
    match stage.inputs() {
        [] => of,
        inputs => {
            let inputs: Vec<String> = inputs.iter().map(summary).collect();
            format!("{of}({})", inputs.join(", "))
        }
    }
}
