//! Expressions whose operands are all evaluated before them, by position or by
//! name: the form of most.

use super::held::{self, Held};
use super::table::Row;
use super::{Evaluated, Node, Scope, coerce};
use crate::{Needs, describe, interrupt};
use bson::RawBsonRef;
use error::{Code, Result};
use value::{Collator, Value};

/// What an expression computes from the values of its operands.
pub type Function = for<'v, 'a> fn(Arguments<'v, 'a>) -> Evaluated<'a>;

#[derive(Debug)]
pub struct Call {
    pub row: &'static Row,
    pub function: Function,
    /// `None` where an optional named operand was not given.
    pub operands: Vec<Option<Node>>,
}

/// The values of an expression's operands.
#[derive(Debug)]
pub struct Arguments<'v, 'a> {
    values: &'v mut [Option<Value<'a>>],
    operands: &'v [Option<Node>],
    pub name: &'static str,
    pub collator: Option<&'a Collator>,
}

impl Call {
    pub fn is_pure(&self) -> bool {
        self.row.pure
    }

    pub fn needs(&self, needs: &mut Needs) {
        let extent = (self.row.reach)(&self.operands);
        for (at, node) in self.operands.iter().enumerate() {
            match (node, extent) {
                (Some(node), Some(extent)) if at == 0 => node.needs_extent(extent, needs),
                (Some(node), _) => node.needs(needs),
                (None, _) => {}
            }
        }
    }

    pub fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let value = |at: usize| match self.operands.get(at) {
            Some(Some(node)) => node.evaluate(scope),
            _ => Ok(None),
        };
        match self.operands.len() {
            1 => self.apply(&mut [value(0)?], scope),
            2 => {
                let first = value(0)?;
                let _held = Held::value(first.as_ref())?;
                self.apply(&mut [first, value(1)?], scope)
            }
            len => {
                let mut values = Vec::with_capacity(len);
                let mut held = Held::default();
                for at in 0..len {
                    let value = value(at)?;
                    held.add(value.as_ref())?;
                    values.push(value);
                }
                self.apply(&mut values, scope)
            }
        }
    }

    fn apply<'a>(&'a self, values: &mut [Option<Value<'a>>], scope: &Scope<'a>) -> Evaluated<'a> {
        // What a function does takes as long as what it is given is large.
        let bytes = values.iter().flatten().map(|value| held::bytes(value.get())).sum();
        interrupt::check_sized(bytes)?;
        (self.function)(Arguments {
            values,
            operands: &self.operands,
            name: self.row.name,
            collator: scope.collator,
        })
    }
}

impl<'a> Arguments<'_, 'a> {
    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value of an operand; `None` is missing or not given.
    pub fn get(&self, at: usize) -> Option<RawBsonRef<'_>> {
        self.values.get(at).and_then(Option::as_ref).map(Value::get)
    }

    pub fn take(&mut self, at: usize) -> Option<Value<'a>> {
        self.values.get_mut(at).and_then(Option::take)
    }

    /// Whether an optional operand was given at all.
    pub fn given(&self, at: usize) -> bool {
        matches!(self.operands.get(at), Some(Some(_)))
    }

    /// Missing, null or undefined.
    pub fn nullish(&self, at: usize) -> bool {
        matches!(self.get(at), None | Some(RawBsonRef::Null | RawBsonRef::Undefined))
    }

    pub fn any_nullish(&self) -> bool {
        (0..self.len()).any(|at| self.nullish(at))
    }

    /// An operand that must be a 32-bit integer, whatever its type; else an error of the
    /// first code and words where it is no number, of the second where it does not fit.
    pub fn int32(&self, at: usize, numeric: (i32, &str), integral: (i32, &str)) -> Result<i32> {
        let value = self.get(at);
        if !coerce::is_numeric(value) {
            let (code, words) = numeric;
            let found = coerce::type_name(value);
            return Err(Code::location(code).error(format!("{words}: {found}")));
        }
        coerce::integral32(value).ok_or_else(|| {
            let (code, words) = integral;
            let found = value.map(describe::value).unwrap_or_default();
            Code::location(code).error(format!("{words}: {found}"))
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = Option<RawBsonRef<'_>>> {
        self.values.iter().map(|value| value.as_ref().map(Value::get))
    }
}
