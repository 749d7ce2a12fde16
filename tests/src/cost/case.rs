//! One request of some size, and what must be there before it is sent.

use bson::{Bson, Document, RawDocumentBuf, doc};

/// The database that all cases use.
const DATABASE: &str = "cost";

/// The collection that most are about.
pub const COLLECTION: &str = "c";

/// Documents that one insert command sends.
const BATCH_DOCUMENTS: usize = 10_000;

/// Makes the request of one row at a size.
pub type Make = fn(usize) -> Case;

#[derive(Debug, Clone)]
pub struct Case {
    /// Commands that prepare the data, from nothing.
    pub setup: Vec<RawDocumentBuf>,
    pub command: RawDocumentBuf,
}

impl Case {
    /// A command on a collection with these documents.
    pub fn new(documents: Vec<Document>, command: Document) -> Case {
        Case::prepared(vec![], documents, command)
    }

    /// The same after other commands, which come before the documents.
    pub fn prepared(before: Vec<Document>, documents: Vec<Document>, command: Document) -> Case {
        let mut setup = vec![raw(doc! { "dropDatabase": 1 })];
        setup.extend(before.into_iter().map(raw));
        for batch in documents.chunks(BATCH_DOCUMENTS) {
            setup.push(raw(doc! { "insert": COLLECTION, "documents": batch.to_vec() }));
        }
        Case { setup, command: raw(command) }
    }

    /// A find in a collection with these documents.
    pub fn find(documents: Vec<Document>, filter: Document) -> Case {
        Case::new(documents, doc! { "find": COLLECTION, "filter": filter, "batchSize": i32::MAX })
    }

    /// An update of a collection with one document.
    pub fn update(document: Document, update: impl Into<Bson>) -> Case {
        let statement = doc! { "q": {}, "u": update };
        Case::new(vec![document], doc! { "update": COLLECTION, "updates": [statement] })
    }

    /// A pipeline over a collection with these documents.
    pub fn pipeline(documents: Vec<Document>, stages: Vec<Document>) -> Case {
        Case::new(documents, aggregate(stages))
    }

    /// A stage over a collection with these documents, its output counted.
    pub fn stage(documents: Vec<Document>, stage: Document) -> Case {
        Case::pipeline(documents, vec![stage, doc! { "$count": "n" }])
    }
}

pub fn aggregate(stages: Vec<Document>) -> Document {
    doc! { "aggregate": COLLECTION, "pipeline": stages, "cursor": { "batchSize": i32::MAX } }
}

fn raw(mut command: Document) -> RawDocumentBuf {
    command.insert("$db", DATABASE);
    // What the rows make holds nothing that BSON cannot.
    RawDocumentBuf::try_from(&command).unwrap_or_default()
}

/// `0, 1, …`
pub fn numbers(count: usize) -> Vec<Bson> {
    (0..count).map(|at| Bson::Int32(at as i32)).collect()
}

/// `"k0", "k1", …`
pub fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("k{at}")).collect()
}

/// `{k0: value(0), k1: value(1), …}`
pub fn fields<V: Into<Bson>>(count: usize, value: impl Fn(usize) -> V) -> Document {
    (0..count).map(|at| (format!("k{at}"), value(at).into())).collect()
}

/// `[item(0), item(1), …]`
pub fn list<V: Into<Bson>>(count: usize, item: impl Fn(usize) -> V) -> Vec<Bson> {
    (0..count).map(|at| item(at).into()).collect()
}

/// Documents by their numbers.
pub fn documents(count: usize, document: impl Fn(i32) -> Document) -> Vec<Document> {
    (0..count as i32).map(document).collect()
}
