//! A command's `let`: variables for the filters, projections and pipelines it holds. They
//! are evaluated before any document is read, so they may look at none.

use crate::aggregate::expressions::parser::check_write_name;
use crate::aggregate::expressions::{Expression, held};
use crate::names::Names;
use crate::{Context, Needs};
use bson::{RawBson, RawDocument, RawDocumentBuf};
use budget::{Held, Kind};
use error::{Code, Result};
use std::sync::Arc;
use value::elements;

/// Variables whose values are known. One may be missing, as that of `$$REMOVE` is.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    names: Names<Option<Arc<RawBson>>>,
    /// What the values take of the budget, where they are much.
    memory: Option<Arc<Held>>,
}

impl Variables {
    /// Gives a variable its value; an earlier one of the name is hidden.
    pub fn set(&mut self, name: &str, value: Option<RawBson>) {
        self.names.extend([(name.into(), value.map(Arc::new))]);
    }

    /// The value of a variable, if there is such a variable.
    pub fn get(&self, name: &str) -> Option<&Option<Arc<RawBson>>> {
        self.names.get(name)
    }
}

/// The context with these variables: each may use those before it.
pub fn define(variables: &RawDocument, mut context: Context) -> Result<Context> {
    let nothing = RawDocumentBuf::new();
    let (mut memory, mut bytes) = (Held::new(Kind::Work), 0);
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
        bytes += value.as_ref().map_or(0, |value| held::bytes(value.as_raw_bson_ref()));
        memory.resize(bytes)?;
        context.variables.set(element.key, value);
    }
    context.variables.memory = (memory.bytes() > 0).then(|| Arc::new(memory));
    Ok(context)
}
