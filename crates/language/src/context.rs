//! What a command gives the language beside the text: collation, variables, time.

use crate::Binding;
use crate::metadata::Asked;
use crate::names::Names;
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
    /// Variables that get their values later, by name: a `$lookup`'s `let`.
    pub bindings: Names<Arc<Binding>>,
    /// The metadata that what is parsed with this asks for.
    pub asked: Arc<Asked>,
    /// Whether constants are evaluated while they are parsed. Where not, one that fails is an
    /// error only once a document comes to it.
    pub folds: bool,
}

impl Context {
    pub fn new() -> Context {
        Context {
            collator: None,
            variables: Variables::default(),
            now: DateTime::now(),
            bindings: Names::default(),
            asked: Arc::default(),
            folds: true,
        }
    }

    /// The same, with constants left as they are.
    pub fn without_folding(&self) -> Context {
        Context { folds: false, ..self.clone() }
    }

    /// The same with further variables that get their values later; they hide others of
    /// their names.
    pub fn binding(&self, bindings: impl IntoIterator<Item = Arc<Binding>>) -> Context {
        let mut context = self.clone();
        let named = bindings.into_iter().map(|binding| (binding.name().into(), binding));
        context.bindings.extend(named);
        context
    }
}

impl Default for Context {
    fn default() -> Self {
        Context::new()
    }
}
