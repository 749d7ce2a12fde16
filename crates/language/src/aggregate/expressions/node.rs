//! The tree of a parsed expression.

use super::call::Call;
use super::held::{self, Held};
use super::{FieldPath, Scope, coerce};
use crate::metadata::{self, Asked};
use crate::{Binding, Extent, Needs, interrupt};
use bson::{RawBson, RawBsonRef, RawDocumentBuf};
use error::Result;
use std::sync::Arc;
use value::{ArrayWriter, Collator, DocumentWriter, Value};

/// What evaluation gives: `None` is missing.
pub type Evaluated<'a> = Result<Option<Value<'a>>>;

#[derive(Debug)]
pub enum Node {
    /// A literal, or what folding made of constants; `None` is missing.
    Constant(Option<RawBson>),
    /// `$$ROOT`.
    Root(Arc<Asked>),
    /// `$path`, of the root document.
    Field(FieldPath),
    /// `$$name`, `$$name.path`.
    Variable {
        slot: usize,
        path: Option<FieldPath>,
    },
    /// A variable that gets its value only once a pipeline runs.
    Bound {
        binding: Arc<Binding>,
        path: Option<FieldPath>,
    },
    /// A variable whose value is known, and too large to be copied wherever it is named.
    Shared {
        value: Arc<RawBson>,
        path: Option<FieldPath>,
    },
    Document(Vec<(Box<str>, Node)>),
    Array(Vec<Node>),
    /// An expression whose operands are all evaluated before it.
    Call(Call),
    /// An expression that evaluates its operands by itself.
    Special(Box<dyn Special>),
}

/// An expression that decides which of its operands to evaluate, or binds
/// variables for them.
pub trait Special: std::fmt::Debug + Send + Sync {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a>;

    fn operands(&self) -> Vec<&Node>;

    fn operands_mut(&mut self) -> Vec<&mut Node>;

    /// Whether equal operands always give an equal value.
    fn is_pure(&self) -> bool {
        true
    }

    /// What to put in place of this once the operands are folded: an
    /// expression that chooses among operands may be one of them.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for operand in self.operands_mut() {
            operand.fold(collator)?;
        }
        Ok(None)
    }

    /// The operands that are all true where this is.
    fn conjuncts(&self) -> &[Node] {
        &[]
    }

    /// Whether its value is that of an operand, as it is, and goes only by which are null.
    fn is_one_of_its_operands(&self) -> bool {
        false
    }

    /// Whether the whole document is needed, whatever the operands are.
    fn needs_all(&self) -> bool {
        false
    }
}

impl Node {
    pub fn null() -> Node {
        Node::Constant(Some(RawBson::Null))
    }

    pub fn is_constant(&self) -> bool {
        matches!(self, Node::Constant(_))
    }

    pub fn constant(&self) -> Option<RawBsonRef<'_>> {
        match self {
            Node::Constant(Some(value)) => Some(value.as_raw_bson_ref()),
            _ => None,
        }
    }

    pub fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        match self {
            Node::Constant(value) => Ok(value.as_ref().map(|v| Value::Ref(v.as_raw_bson_ref()))),
            Node::Root(asked) => Ok(Some(metadata::bare(scope.root, asked.wanted()))),
            Node::Field(path) => Ok(path.resolve(scope.root)),
            Node::Variable { slot, path } => {
                let value = scope.variable(*slot).map(Value::get);
                Ok(match path {
                    None => value.map(Value::Ref),
                    Some(path) => value.and_then(|value| path.resolve_in(value)),
                })
            }
            Node::Bound { binding, path } => Ok(bound(binding, path.as_ref())),
            Node::Shared { value, path } => Ok(match path {
                None => Some(Value::Ref(value.as_raw_bson_ref())),
                Some(path) => path.resolve_in(value.as_raw_bson_ref()),
            }),
            Node::Document(fields) => document(fields, scope),
            Node::Array(nodes) => array(nodes, scope),
            Node::Call(call) => call.evaluate(scope),
            Node::Special(special) => {
                interrupt::check()?;
                special.evaluate(scope)
            }
        }
    }

    /// Replaces what depends on nothing by its value.
    pub fn fold(&mut self, collator: Option<&Collator>) -> Result<()> {
        interrupt::check()?;
        let constant = match self {
            Node::Document(fields) => {
                let mut constant = true;
                for (_, node) in fields.iter_mut() {
                    node.fold(collator)?;
                    constant &= node.is_constant();
                }
                constant
            }
            Node::Array(nodes) => {
                for node in nodes.iter_mut() {
                    node.fold(collator)?;
                }
                nodes.iter().all(Node::is_constant)
            }
            Node::Call(call) => {
                for node in call.operands.iter_mut().flatten() {
                    node.fold(collator)?;
                }
                let constant = call.operands.iter().flatten().all(Node::is_constant);
                if !constant && let Some(node) = (call.row.check)(&call.operands)? {
                    *self = node;
                    return Ok(());
                }
                call.is_pure() && constant
            }
            Node::Special(special) => {
                if let Some(node) = special.fold(collator)? {
                    *self = node;
                    return Ok(());
                }
                special.is_pure() && special.operands().into_iter().all(Node::is_constant)
            }
            _ => false,
        };
        if constant {
            let empty = RawDocumentBuf::new();
            let scope = Scope::new(&empty, collator);
            let value = match self.evaluate(&scope) {
                Ok(value) => value.map(Value::into_owned),
                // An interrupt keeps its own error, whatever an operator made of it.
                Err(error) => return interrupt::check_now().and(Err(error)),
            };
            if value.as_ref().is_none_or(|value| held::keeps(value.as_raw_bson_ref())) {
                *self = Node::Constant(value);
            }
        }
        Ok(())
    }

    /// Whether equal documents always give an equal value.
    pub fn is_pure(&self) -> bool {
        match self {
            Node::Document(fields) => fields.iter().all(|(_, node)| node.is_pure()),
            Node::Array(nodes) => nodes.iter().all(Node::is_pure),
            Node::Call(call) => call.is_pure() && call.operands.iter().flatten().all(Node::is_pure),
            Node::Special(special) => {
                special.is_pure() && special.operands().into_iter().all(Node::is_pure)
            }
            _ => true,
        }
    }

    pub fn needs(&self, needs: &mut Needs) {
        match self {
            Node::Constant(_)
            | Node::Variable { .. }
            | Node::Bound { .. }
            | Node::Shared { .. } => {}
            Node::Root(_) => needs.all(),
            Node::Field(path) => needs.add(path.path()),
            Node::Document(fields) => fields.iter().for_each(|(_, node)| node.needs(needs)),
            Node::Array(nodes) => nodes.iter().for_each(|node| node.needs(needs)),
            Node::Call(call) => call.needs(needs),
            Node::Special(special) => {
                if special.needs_all() {
                    needs.all();
                }
                special.operands().into_iter().for_each(|node| node.needs(needs));
            }
        }
    }

    /// What it looks at where only a part of its value matters, if that is an array.
    pub fn needs_extent(&self, extent: Extent, needs: &mut Needs) {
        match self {
            Node::Field(path) => needs.add_extent(path.path(), extent),
            Node::Special(special) if special.is_one_of_its_operands() => {
                let operands = special.operands().into_iter();
                operands.for_each(|node| node.needs_extent(extent, needs));
            }
            node => node.needs(needs),
        }
    }

    /// A constant that is exactly a 32-bit integer.
    pub fn integer(&self) -> Option<i32> {
        match self {
            Node::Constant(value) => {
                coerce::integral32(value.as_ref().map(RawBson::as_raw_bson_ref))
            }
            _ => None,
        }
    }
}

/// The value outlives this run in the binding only, so that it is copied.
fn bound<'a>(binding: &Binding, path: Option<&FieldPath>) -> Option<Value<'a>> {
    let value = binding.get()?;
    match path {
        None => Some(Value::Own(value::value::to_owned(value.as_raw_bson_ref()))),
        Some(path) => {
            let found = path.resolve_in(value.as_raw_bson_ref())?;
            Some(Value::Own(found.into_owned()))
        }
    }
}

fn document<'a>(fields: &'a [(Box<str>, Node)], scope: &'a Scope<'a>) -> Evaluated<'a> {
    let mut out = DocumentWriter::new();
    let mut held = Held::default();
    for (name, node) in fields {
        interrupt::check()?;
        if let Some(value) = node.evaluate(scope)? {
            out.append(name, value.get());
            held.write(out.len())?;
        }
    }
    Ok(Some(Value::Own(RawBson::Document(out.finish()))))
}

fn array<'a>(nodes: &'a [Node], scope: &'a Scope<'a>) -> Evaluated<'a> {
    let mut out = ArrayWriter::new();
    let mut held = Held::default();
    for node in nodes {
        interrupt::check()?;
        match node.evaluate(scope)? {
            Some(value) => out.push(value.get()),
            None => out.push(RawBsonRef::Null),
        }
        held.write_array(&out)?;
    }
    Ok(Some(Value::Own(RawBson::Array(out.finish()))))
}

/// A computed value.
pub fn own<'a>(value: impl Into<RawBson>) -> Evaluated<'a> {
    Ok(Some(Value::Own(value.into())))
}

pub fn null<'a>() -> Evaluated<'a> {
    Ok(Some(Value::Ref(RawBsonRef::Null)))
}
