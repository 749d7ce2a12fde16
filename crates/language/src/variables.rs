//! A command's `let`: variables for the filters, projections and pipelines it holds. They
//! are evaluated before any document is read, so they may look at none.

use crate::aggregate::expressions::Expression;
use crate::aggregate::expressions::parser::check_write_name;
use crate::{Context, Needs};
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::{DocumentWriter, elements};

/// The context with these variables: each may use those before it.
pub fn define(variables: &RawDocument, mut context: Context) -> Result<Context> {
    let nothing = RawDocumentBuf::new();
    for element in elements(variables) {
        check_write_name(element.key)?;
        let expression = Expression::parse(element.value(), &context)?;
        let mut needs = Needs::none();
        expression.needs(&mut needs);
        if needs != Needs::none() {
            return Err(Code::location(4890500).error(
                "Command let Expression tried to access a field, but this is not allowed because \
                 command let expressions run before the query examines any documents.",
            ));
        }
        let mut writer = DocumentWriter::resume(std::mem::take(&mut context.variables));
        if let Some(value) = expression.evaluate(&nothing)? {
            writer.append(element.key, value.get());
        }
        context.variables = writer.finish();
    }
    Ok(context)
}
