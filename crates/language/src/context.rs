//! What a command gives the language beside the text: collation, variables, time.

use crate::Binding;
use crate::metadata::Asked;
use crate::variables::Variables;
use bson::DateTime;
use std::sync::Arc;
use value::Collator;

#[derive(Debug, Clone)]
pub struct Context {
    pub collator: Option<Arc<Collator>>,
    /// The command's `let`, already evaluated.
    pub variables: Variables,
    /// `$$NOW`, one instant for the whole command.
    pub now: DateTime,
    /// Variables that get their values later, the innermost last: a `$lookup`'s `let`.
    pub bindings: Arc<[Arc<Binding>]>,
    /// The metadata that what is parsed with this asks for.
    pub asked: Arc<Asked>,
}

impl Context {
    pub fn new() -> Context {
        Context {
            collator: None,
            variables: Variables::default(),
            now: DateTime::now(),
            bindings: Arc::default(),
            asked: Arc::default(),
        }
    }

    /// The same with further variables that get their values later.
    pub fn binding(&self, bindings: impl IntoIterator<Item = Arc<Binding>>) -> Context {
        let bindings = self.bindings.iter().cloned().chain(bindings).collect();
        Context { bindings, ..self.clone() }
    }
}

impl Default for Context {
    fn default() -> Self {
        Context::new()
    }
}
