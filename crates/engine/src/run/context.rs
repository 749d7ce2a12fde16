//! What a command gives the language: collation, variables, the time.

use super::reading::Resolved;
use crate::catalog::Collection;
use bson::RawDocument;
use error::{Code, Result};
use language::Context;
use std::sync::Arc;
use value::Collator;

/// The command's own collation, or else the collection's.
pub fn context(
    collection: Option<&Collection>,
    collation: Option<&RawDocument>,
    variables: Option<&RawDocument>,
) -> Result<Context> {
    let default = collection.and_then(|collection| collection.collator.clone());
    with_default(default, collation, variables)
}

/// As `context`, where the collection may be a view: a read of one may ask for no
/// collation but its own.
pub fn resolved_context(
    resolved: &Resolved,
    collation: Option<&RawDocument>,
    variables: Option<&RawDocument>,
) -> Result<Context> {
    let context = with_default(resolved.collator.clone(), collation, variables)?;
    if resolved.is_view && context.collator != resolved.collator {
        return Err(
            Code::OptionNotSupportedOnView.error("Cannot override a view's default collation")
        );
    }
    Ok(context)
}

fn with_default(
    default: Option<Arc<Collator>>,
    collation: Option<&RawDocument>,
    variables: Option<&RawDocument>,
) -> Result<Context> {
    let mut context = Context::new();
    context.collator = match collation {
        Some(collation) if !collation.is_empty() => Collator::parse(collation)?.map(Arc::new),
        _ => default,
    };
    match variables {
        Some(variables) => language::variables::define(variables, context),
        None => Ok(context),
    }
}
