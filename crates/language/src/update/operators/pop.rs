//! `$pop`: removes an array's first or last element.

use super::super::operator::{Absent, Argument, Operator, Scope, integer};
use super::super::place::Place;
use super::super::walk::{Facts, Run};
use super::Row;
use crate::describe;
use bson::spec::ElementType;
use error::{Code, Result};
use std::sync::Arc;
use value::Element;
use value::number::Number;

pub const ROW: Row = Row { name: "$pop", parse, help: "remove an array's first or last element" };

#[derive(Debug)]
enum Pop {
    First,
    Last,
}

fn parse(argument: &Argument<'_>) -> Result<Arc<dyn Operator>> {
    if Number::from_value(argument.value()).is_none() {
        return Err(
            Code::FailedToParse.error(format!("Expected a number in: {}", argument.describe()))
        );
    }
    match integer(argument.value()) {
        Some(1) => Ok(Arc::new(Pop::Last)),
        Some(-1) => Ok(Arc::new(Pop::First)),
        Some(other) => {
            Err(Code::FailedToParse.error(format!("$pop expects 1 or -1, found: {other}")))
        }
        None => {
            Err(Code::FailedToParse.error(format!("Expected an integer: {}", argument.describe())))
        }
    }
}

impl Operator for Pop {
    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        if old.kind != ElementType::Array {
            return Err(Code::TypeMismatch.error(format!(
                "Path '{}' contains an element of non-array type '{}'",
                place.path(),
                describe::type_name(old.kind)
            )));
        }
        let mut items = old.children();
        match self {
            Pop::Last => {
                let Some(last) = items.last() else { return Ok(()) };
                let array = run.edits.open(old.bytes);
                run.edits.remove(last)?;
                run.edits.close(array)
            }
            Pop::First => {
                if items.next().is_none() {
                    return Ok(());
                }
                run.edits.replace(old, |out| {
                    out.begin_array(old.key);
                    items.for_each(|item| out.copy_next(item));
                    out.end();
                })
            }
        }
    }

    fn scope(&self) -> Scope {
        match self {
            Pop::First => Scope::First,
            Pop::Last => Scope::Last,
        }
    }

    fn absent(&self, _: &Facts<'_>) -> Result<Absent> {
        Ok(Absent::Refuses)
    }
}
