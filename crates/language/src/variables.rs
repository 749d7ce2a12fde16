//! A command's `let`: variables for the filters, projections and pipelines it holds. They
//! are evaluated before any document is read, so they may look at none.

use crate::aggregate::expressions::Expression;
use crate::aggregate::expressions::parser::check_write_name;
use crate::names::Names;
use crate::{Context, Needs};
use bson::{RawBson, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::elements;

/// Variables whose values are known. One may be missing, as that of `$$REMOVE` is.
#[derive(Debug, Clone, Default)]
pub struct Variables(Names<Option<RawBson>>);

impl Variables {
    /// Gives a variable its value; an earlier one of the name is hidden.
    pub fn set(&mut self, name: &str, value: Option<RawBson>) {
        self.0.extend([(name.into(), value)]);
    }

    /// The value of a variable, if there is such a variable.
    pub fn get(&self, name: &str) -> Option<&Option<RawBson>> {
        self.0.get(name)
    }
}

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
        let value = expression.evaluate_owned(&nothing)?;
        context.variables.set(element.key, value);
    }
    Ok(context)
}
