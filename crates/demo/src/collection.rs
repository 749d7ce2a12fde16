//! A collection of a scenario: its definition, and its documents one by one.

use crate::{Random, Recipe};
use bson::{Document, RawDocumentBuf};

/// The name of the index on the shard key where a server has no shards: it tells the auditor
/// what the key is to be.
pub const SHARD_KEY_INDEX: &str = "shard_key";

/// Makes a document from its number, from 0.
type Make = Box<dyn Fn(u64, &mut Random) -> RawDocumentBuf + Send + Sync>;

pub struct Collection {
    pub name: String,
    /// How many documents it has.
    pub count: u64,
    /// The keys of its indexes, beside `_id`.
    pub indexes: Vec<Document>,
    /// The key its team would shard it by.
    pub shard_key: Option<Document>,
    seed: u64,
    make: Make,
}

impl Collection {
    pub(crate) fn new(
        recipe: &Recipe,
        name: impl Into<String>,
        count: u64,
        make: impl Fn(u64, &mut Random) -> RawDocumentBuf + Send + Sync + 'static,
    ) -> Collection {
        Collection {
            name: name.into(),
            count,
            indexes: Vec::new(),
            shard_key: None,
            seed: recipe.seed,
            make: Box::new(make),
        }
    }

    pub(crate) fn with_indexes(mut self, keys: impl IntoIterator<Item = Document>) -> Collection {
        self.indexes.extend(keys);
        self
    }

    /// The shard key, which needs an index, too.
    pub(crate) fn sharded_by(mut self, key: Document) -> Collection {
        self.indexes.push(key.clone());
        self.shard_key = Some(key);
        self
    }

    /// Document `number`, from 0.
    pub fn document(&self, number: u64) -> RawDocumentBuf {
        (self.make)(number, &mut Random::new(self.seed, &self.name, number))
    }

    /// All documents, made as they are taken.
    pub fn documents(&self) -> impl Iterator<Item = RawDocumentBuf> + Send + '_ {
        (0..self.count).map(|number| self.document(number))
    }
}

impl std::fmt::Debug for Collection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} documents, seed {})", self.name, self.count, self.seed)
    }
}
