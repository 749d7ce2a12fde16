//! `$count`: how many documents there are.

use super::sliding::Slide;
use super::{Accumulation, Accumulator};
use crate::aggregate::expressions::{Expression, Node, coerce};
use crate::{Context, Needs};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};

#[derive(Debug, Default)]
pub struct Count(i64);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    match value {
        RawBsonRef::Document(document) if document.is_empty() => Ok(Accumulation {
            argument: Expression::from_node(Node::null(), context)?,
            initializer: None,
            start: Box::new(|_| Ok(Box::new(Count::default()))),
            slide: Some(Box::new(|_| Ok(Box::new(Count::default())))),
            reads: Needs::none(),
        }),
        RawBsonRef::Document(_) => {
            Err(Code::TypeMismatch.error("$count takes no arguments, i.e. $count:{}"))
        }
        _ => Err(Code::TypeMismatch.error("$count takes no arguments, i.e. $count:{}")),
    }
}

impl Accumulator for Count {
    fn add(&mut self, _: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(coerce::int_or_long(self.0)))
    }
}

impl Slide for Count {
    fn add(&mut self, _: Option<RawBson>, _: &RawDocument) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn remove(&mut self) {
        self.0 -= 1;
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Accumulator::value(self)
    }

    fn bytes(&self) -> usize {
        0
    }
}
