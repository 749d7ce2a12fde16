//! Expressions, one file each in a folder by kind, and their table.
//!
//! An expression is parsed into a tree of `Node`s, constants are folded (which
//! finds errors of misuse even where no document is read), and the tree is then
//! evaluated over raw documents: values stay in their document where they can.

pub mod accumulate;
pub mod arithmetic;
pub mod array;
pub mod bitwise;
pub mod boolean;
pub mod call;
pub mod coerce;
pub mod comparison;
pub mod conditional;
pub mod date;
pub mod decimal;
pub mod field_path;
pub mod held;
pub mod literal;
pub mod node;
pub mod object;
pub mod parser;
pub mod scope;
pub mod set;
pub mod string;
pub mod table;
#[cfg(test)]
pub mod testing;
pub mod trigonometry;
pub mod types;
pub mod variable;

pub use call::Arguments;
pub use field_path::FieldPath;
pub use node::{Evaluated, Node, Special};
pub use parser::Parser;
pub use scope::{Frame, Scope};
pub use table::{Form, Row};

use crate::{Context, Needs, interrupt, metadata};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use std::sync::Arc;
use value::{Collator, Value, wide};

/// How deep expressions may nest.
pub const EXPRESSION_DEPTH_MAX: usize = 200;

/// The most bytes that one computed value may take.
pub const VALUE_BYTES_MAX: usize = 100 * 1024 * 1024;

/// A parsed expression.
#[derive(Debug)]
pub struct Expression {
    pub node: Node,
    collator: Option<Arc<Collator>>,
}

impl Expression {
    /// Parses any expression: literal, `"$path"`, `"$$variable"`, `{$op: …}`,
    /// document or array of expressions. Errors of misuse are found here.
    pub fn parse(expression: RawBsonRef<'_>, context: &Context) -> Result<Expression> {
        let mut parser = Parser::new(context);
        let node = parser.operand(expression)?;
        Expression::from_node(node, context)
    }

    /// As `parse`, but constants that cannot be evaluated are no error yet: they fail where
    /// the expression comes to them, if it ever does.
    pub fn parse_deferred(expression: RawBsonRef<'_>, context: &Context) -> Result<Expression> {
        if let Ok(folded) = Expression::parse(expression, context) {
            return Ok(folded);
        }
        interrupt::check_now()?;
        // From the start, since folding stopped half way.
        Expression::parse(expression, &context.without_folding())
    }

    /// An expression of a node that is already parsed; folds its constants.
    pub fn from_node(mut node: Node, context: &Context) -> Result<Expression> {
        if context.folds {
            held::folding(&context.asked, || node.fold(context.collator.as_deref()))?;
        }
        Ok(Expression { node, collator: context.collator.clone() })
    }

    /// The value for a document; `None` is missing.
    pub fn evaluate<'a>(&'a self, root: &'a RawDocument) -> Result<Option<Value<'a>>> {
        match &self.node {
            // The commonest expressions need no scope.
            Node::Root(asked) => Ok(Some(metadata::bare(root, asked.wanted()))),
            Node::Field(path) => Ok(path.resolve(root)),
            Node::Constant(value) => Ok(value.as_ref().map(|v| Value::Ref(v.as_raw_bson_ref()))),
            node => {
                let _entered = wide::enter(root);
                let scope = Scope::new(root, self.collator.as_deref());
                Ok(node.evaluate(&scope)?.map(|value| Value::Own(value.into_owned())))
            }
        }
    }

    /// As `evaluate`, for a value that outlives the document.
    pub fn evaluate_owned(&self, root: &RawDocument) -> Result<Option<RawBson>> {
        Ok(self.evaluate(root)?.map(Value::into_owned))
    }

    /// As `evaluate`, with variables: `frame` binds the slots that the parser
    /// was told of.
    pub fn evaluate_in(&self, root: &RawDocument, frame: &Frame<'_>) -> Result<Option<RawBson>> {
        let scope = Scope { root, collator: self.collator.as_deref(), frame: Some(frame) };
        Ok(self.node.evaluate(&scope)?.map(Value::into_owned))
    }

    /// The value, if the expression is a constant; `Some(None)` is a constant
    /// that is missing.
    pub fn constant(&self) -> Option<Option<RawBsonRef<'_>>> {
        match &self.node {
            Node::Constant(value) => Some(value.as_ref().map(RawBson::as_raw_bson_ref)),
            _ => None,
        }
    }

    /// The path, if the expression is a plain `"$path"`.
    pub fn path(&self) -> Option<&value::Path> {
        match &self.node {
            Node::Field(path) => Some(path.path()),
            _ => None,
        }
    }

    /// Whether equal documents always give an equal value.
    pub fn is_pure(&self) -> bool {
        self.node.is_pure()
    }

    pub fn needs(&self, needs: &mut Needs) {
        self.node.needs(needs);
    }
}
