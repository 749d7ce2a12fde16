//! Expressions, one file each in a folder by kind, and their table.

use crate::{Context, Needs};
use bson::{RawBsonRef, RawDocument};
use error::Result;
use value::Value;

/// A parsed expression.
#[derive(Debug)]
pub struct Expression {}

impl Expression {
    /// Parses any expression: literal, `"$path"`, `"$$variable"`, `{$op: …}`,
    /// document or array of expressions. Errors of misuse are found here.
    pub fn parse(expression: RawBsonRef<'_>, context: &Context) -> Result<Expression> {
        let _ = (expression, context);
        todo!()
    }

    /// The value for a document; `None` is missing.
    pub fn evaluate<'a>(&'a self, root: &'a RawDocument) -> Result<Option<Value<'a>>> {
        let _ = root;
        todo!()
    }

    pub fn needs(&self, needs: &mut Needs) {
        let _ = needs;
        todo!()
    }
}
