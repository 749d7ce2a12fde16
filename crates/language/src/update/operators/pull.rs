//! `$pull`: removes the elements of an array that a condition picks.

use super::super::array_filter::matches_wrapped;
use super::super::operator::{Absent, Argument, Held, Operator, Scope};
use super::super::place::Place;
use super::super::walk::{Facts, Run};
use super::Row;
use crate::query::Filter;
use crate::query::operators::takes_path;
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};
use std::sync::Arc;
use value::order::compare_with;
use value::{Collator, DocumentWriter, Element, elements};

pub const ROW: Row =
    Row { name: "$pull", parse, help: "remove the elements of an array that match a condition" };

#[derive(Debug)]
enum Pull {
    /// `{a: {b: 1}}`: elements that are documents and match it.
    Documents(Filter),
    /// `{a: {$gt: 5}}`, `{a: /x/}`: elements that satisfy the operators.
    Values(Filter),
    /// `{a: 5}`: elements equal to the value.
    Equal(Held, Option<Arc<Collator>>),
}

fn parse(argument: &Argument<'_>) -> Result<Arc<dyn Operator>> {
    let pull = match argument.value() {
        RawBsonRef::Document(condition) if !begins_with_operator(condition) => {
            Pull::Documents(Filter::parse_plain(condition, argument.context)?)
        }
        RawBsonRef::Document(_) | RawBsonRef::RegularExpression(_) => {
            let mut wrapped = DocumentWriter::new();
            wrapped.copy_as("", argument.field);
            Pull::Values(Filter::parse_plain(&wrapped.finish(), argument.context)?)
        }
        _ => Pull::Equal(argument.held(), argument.context.collator.clone()),
    };
    Ok(Arc::new(pull))
}

/// Whether a condition is one of operators on the element itself.
fn begins_with_operator(condition: &RawDocument) -> bool {
    elements(condition).next().is_some_and(|first| takes_path(first.key))
}

impl Pull {
    fn picks(&self, item: Element<'_>) -> Result<bool> {
        match self {
            Pull::Documents(filter) => match item.value() {
                RawBsonRef::Document(document) => filter.matches(document),
                _ => Ok(false),
            },
            Pull::Values(filter) => matches_wrapped(filter, "", item),
            Pull::Equal(value, collator) => {
                Ok(compare_with(value.value(), item.value(), collator.as_deref()).is_eq())
            }
        }
    }
}

impl Operator for Pull {
    fn update<'d>(&self, old: Element<'d>, _: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        cull(old, run, |item| self.picks(item))
    }

    fn scope(&self) -> Scope {
        Scope::Each { all: false }
    }

    fn absent(&self, _: &Facts<'_>) -> Result<Absent> {
        Ok(Absent::Refuses)
    }
}

/// Removes the elements of an array that `picks` picks.
pub fn cull<'d>(
    old: Element<'d>,
    run: &mut Run<'d>,
    picks: impl Fn(Element<'d>) -> Result<bool>,
) -> Result<()> {
    if old.kind != ElementType::Array {
        return Err(Code::BadValue.error("Cannot apply $pull to a non-array value"));
    }
    let mut kept = Vec::new();
    let mut culled = false;
    for item in old.children() {
        if picks(item)? {
            culled = true;
        } else {
            kept.push(item);
        }
    }
    if !culled {
        return Ok(());
    }
    run.edits.replace(old, |out| {
        out.begin_array(old.key);
        kept.into_iter().for_each(|item| out.copy_next(item));
        out.end();
    })
}
