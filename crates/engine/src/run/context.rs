//! What a command gives the language: collation, variables, the time.

use crate::catalog::Collection;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use language::Context;
use language::aggregate::expressions::Expression;
use std::sync::Arc;
use value::{Collator, DocumentWriter, elements};

/// The command's own collation, or else the collection's.
pub fn context(
    collection: Option<&Collection>,
    collation: Option<&RawDocument>,
    variables: Option<&RawDocument>,
) -> Result<Context> {
    let mut context = Context::new();
    context.collator = match collation {
        Some(collation) if !collation.is_empty() => Collator::parse(collation)?.map(Arc::new),
        _ => collection.and_then(|collection| collection.collator.clone()),
    };
    if let Some(variables) = variables {
        context.variables = evaluate(variables, &context)?;
    }
    Ok(context)
}

/// The values of a command's `let`: each may use those before it.
fn evaluate(variables: &RawDocument, context: &Context) -> Result<RawDocumentBuf> {
    let mut context = context.clone();
    let nothing = RawDocumentBuf::new();
    for element in elements(variables) {
        let expression = Expression::parse(element.value(), &context)?;
        let mut writer = DocumentWriter::resume(std::mem::take(&mut context.variables));
        if let Some(value) = expression.evaluate(&nothing)? {
            writer.append(element.key, value.get());
        }
        context.variables = writer.finish();
    }
    Ok(context.variables)
}
