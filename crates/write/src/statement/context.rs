//! What a statement gives the language: collation and variables.

use super::Statements;
use bson::RawDocument;
use command::Namespace;
use error::Result;
use language::Context;
use std::sync::{Arc, Mutex, PoisonError};
use value::Collator;

/// The `let` of a command with many statements: evaluated once for all that compare strings
/// alike.
pub struct Let<'a> {
    given: Option<&'a RawDocument>,
    evaluated: Mutex<Option<Context>>,
}

impl<'a> Let<'a> {
    pub fn new(given: Option<&'a RawDocument>) -> Let<'a> {
        Let { given, evaluated: Mutex::default() }
    }

    /// With the statement's own collation, or else the collection's.
    pub fn context<B: Statements>(
        &self,
        backend: &B,
        namespace: &Namespace,
        collation: Option<&RawDocument>,
    ) -> Result<Context> {
        let mut context = Context::new();
        context.collator = match collation {
            Some(collation) if !collation.is_empty() => Collator::parse(collation)?.map(Arc::new),
            _ => backend.collator(namespace)?,
        };
        let Some(given) = self.given else { return Ok(context) };
        let mut evaluated = self.evaluated.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match &*evaluated {
            Some(known) if known.collator == context.collator => known,
            _ => evaluated.insert(language::variables::define(given, context.clone())?),
        };
        context.variables = known.variables.clone();
        Ok(context)
    }
}
