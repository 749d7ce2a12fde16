//! What a command gives the language beside the text: collation, variables, time.

use bson::{DateTime, RawDocumentBuf};
use std::sync::Arc;
use value::Collator;

#[derive(Debug, Clone)]
pub struct Context {
    pub collator: Option<Arc<Collator>>,
    /// The command's `let`, already evaluated: name to value.
    pub variables: RawDocumentBuf,
    /// `$$NOW`, one instant for the whole command.
    pub now: DateTime,
    /// Variables that have a name but no value yet: a `$lookup`'s `let` while
    /// its pipeline is only checked.
    pub unbound: Arc<[Box<str>]>,
}

impl Context {
    pub fn new() -> Context {
        Context {
            collator: None,
            variables: RawDocumentBuf::new(),
            now: DateTime::now(),
            unbound: Arc::default(),
        }
    }
}

impl Default for Context {
    fn default() -> Self {
        Context::new()
    }
}
