//! `$pullAll`: removes every element of an array that equals one of a list.

use super::super::operator::{Absent, Argument, Operator, Scope};
use super::super::place::Place;
use super::super::walk::{Facts, Run};
use super::Row;
use super::pull::cull;
use super::value_set::ValueSet;
use bson::spec::ElementType;
use error::{Code, Result};
use std::sync::Arc;
use value::Element;

pub const ROW: Row =
    Row { name: "$pullAll", parse, help: "remove the elements of an array that are in a list" };

#[derive(Debug)]
struct PullAll {
    set: ValueSet,
}

fn parse(argument: &Argument<'_>) -> Result<Arc<dyn Operator>> {
    if argument.field.kind != ElementType::Array {
        return Err(Code::BadValue.error(format!(
            "$pullAll requires an array argument but was given a {}",
            argument.type_name()
        )));
    }
    let collator = argument.context.collator.clone();
    Ok(Arc::new(PullAll { set: ValueSet::new(argument.field.children(), collator) }))
}

impl Operator for PullAll {
    fn update<'d>(&self, old: Element<'d>, _: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        cull(old, run, |item| Ok(self.set.find(item.value()).is_some()))
    }

    fn scope(&self) -> Scope {
        Scope::Each { all: false }
    }

    fn absent(&self, _: &Facts<'_>) -> Result<Absent> {
        Ok(Absent::Refuses)
    }
}
