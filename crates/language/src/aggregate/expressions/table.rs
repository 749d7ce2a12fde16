//! The table of expressions: one row each, kept in the folder of its kind.

use super::call::Function;
use super::*;
use crate::Extent;
use error::Code;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// One expression.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub form: Form,
    /// Whether equal operands always give an equal value.
    pub pure: bool,
    /// What it is for, in a few words.
    pub help: &'static str,
    /// Checks the operands that are constant where others are not.
    pub check: Check,
    /// How much of its first operand it looks at.
    pub reach: Reach,
}

/// How much of its first operand, an array, an expression looks at; `None` is all of it.
pub type Reach = fn(&[Option<Node>]) -> Option<Extent>;

fn whole(_: &[Option<Node>]) -> Option<Extent> {
    None
}

/// Finds errors in constant operands before any document is read; may give what the whole
/// comes to because of them.
pub type Check = fn(&[Option<Node>]) -> Result<Option<Node>>;

fn unchecked(_: &[Option<Node>]) -> Result<Option<Node>> {
    Ok(None)
}

/// How an expression takes its operands.
#[derive(Debug)]
pub enum Form {
    /// By position, all evaluated first.
    Call(Arity, Function),
    /// By name, all evaluated first.
    Named(Named),
    /// It parses its operands itself.
    Own(fn(&mut Parser<'_>, RawBsonRef<'_>) -> Result<Node>),
    /// Known and not supported, with the reason.
    Refused(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arity {
    Exactly(usize),
    /// One operand, and the code of any other number of them.
    One(i32),
    Between(usize, usize),
    Any,
}

/// Operands by name, and the codes of their misuse.
#[derive(Debug)]
pub struct Named {
    pub fields: &'static [Field],
    /// The code where the operand is no document.
    pub not_object: i32,
    /// The code of an unknown name.
    pub unknown: i32,
    pub function: Function,
}

#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    /// The code where it is not given; `None` is optional.
    pub required: Option<i32>,
}

pub const fn required(name: &'static str, code: i32) -> Field {
    Field { name, required: Some(code) }
}

pub const fn optional(name: &'static str) -> Field {
    Field { name, required: None }
}

impl Row {
    pub const fn call(
        name: &'static str,
        arity: Arity,
        function: Function,
        help: &'static str,
    ) -> Row {
        Row::new(name, Form::Call(arity, function), help)
    }

    pub const fn named(name: &'static str, named: Named, help: &'static str) -> Row {
        Row::new(name, Form::Named(named), help)
    }

    pub const fn own(
        name: &'static str,
        parse: fn(&mut Parser<'_>, RawBsonRef<'_>) -> Result<Node>,
        help: &'static str,
    ) -> Row {
        Row::new(name, Form::Own(parse), help)
    }

    pub const fn refused(name: &'static str, why: &'static str) -> Row {
        Row::new(name, Form::Refused(why), why)
    }

    const fn new(name: &'static str, form: Form, help: &'static str) -> Row {
        Row { name, form, pure: true, help, check: unchecked, reach: whole }
    }

    pub const fn impure(self) -> Row {
        Row { pure: false, ..self }
    }

    pub const fn checked(self, check: Check) -> Row {
        Row { check, ..self }
    }

    pub const fn reaching(self, reach: Reach) -> Row {
        Row { reach, ..self }
    }
}

impl Arity {
    pub fn check(self, name: &str, given: usize) -> Result<()> {
        match self {
            Arity::Exactly(count) if given != count => Err(Code::location(16020).error(format!(
                "Expression {name} takes exactly {count} arguments. {given} were passed in."
            ))),
            Arity::One(code) if given != 1 => Err(Code::location(code)
                .error(format!("{name} requires a single argument, got {given}"))),
            Arity::Between(least, most) if given < least || given > most => {
                Err(Code::location(28667).error(format!(
                    "Expression {name} takes at least {least} arguments, and at most {most}, but {given} were passed in."
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Every row, by kind.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    const KINDS: [&[Row]; 15] = [
        accumulate::ROWS,
        arithmetic::ROWS,
        array::ROWS,
        bitwise::ROWS,
        boolean::ROWS,
        comparison::ROWS,
        conditional::ROWS,
        date::ROWS,
        literal::ROWS,
        object::ROWS,
        set::ROWS,
        string::ROWS,
        trigonometry::ROWS,
        types::ROWS,
        variable::ROWS,
    ];
    KINDS.into_iter().flatten()
}

pub fn find(name: &str) -> Option<&'static Row> {
    static BY_NAME: LazyLock<FxHashMap<&'static str, &'static Row>> =
        LazyLock::new(|| rows().map(|row| (row.name, row)).collect());
    BY_NAME.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once() {
        let names: Vec<_> = rows().map(|row| row.name).collect();
        let once: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(once.len(), names.len());
        assert!(names.iter().all(|name| name.starts_with('$')));
    }
}
