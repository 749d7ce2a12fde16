//! `$addToSet`: appends values that an array does not hold yet.

use super::super::operator::{Absent, Argument, Operator, Scope, depth_below};
use super::super::place::Place;
use super::super::walk::{Facts, Run};
use super::Row;
use super::value_set::ValueSet;
use crate::describe;
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::{Code, Result};
use std::sync::Arc;
use value::{DocumentWriter, Element};

pub const ROW: Row =
    Row { name: "$addToSet", parse, help: "append values that an array does not hold yet" };

#[derive(Debug)]
struct AddToSet {
    set: ValueSet,
    depth: usize,
}

fn parse(argument: &Argument<'_>) -> Result<Arc<dyn Operator>> {
    let collator = argument.context.collator.clone();
    let set = match each(argument)? {
        Some(each) => ValueSet::new(each.children(), collator),
        None => ValueSet::new(std::iter::once(argument.field), collator),
    };
    let depth = set.values().iter().map(|held| 1 + depth_below(held.element())).max();
    Ok(Arc::new(AddToSet { set, depth: depth.unwrap_or(0) }))
}

/// The array of `{$each: […]}`, if that is what the argument is.
fn each<'a>(argument: &Argument<'a>) -> Result<Option<Element<'a>>> {
    let RawBsonRef::Document(_) = argument.value() else { return Ok(None) };
    let mut fields = argument.field.children();
    let Some(each) = fields.next().filter(|first| first.key == "$each") else { return Ok(None) };
    if each.kind != ElementType::Array {
        return Err(Code::TypeMismatch.error(format!(
            "The argument to $each in $addToSet must be an array but it was of type {}",
            describe::type_name(each.kind)
        )));
    }
    if fields.next().is_some() {
        return Err(Code::BadValue.error(format!(
            "Found unexpected fields after $each in $addToSet: {}",
            argument.describe()
        )));
    }
    Ok(Some(each))
}

impl Operator for AddToSet {
    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        if old.kind != ElementType::Array {
            return Err(Code::BadValue.error(format!(
                "Cannot apply $addToSet to non-array field. Field named '{}' has non-array type {}",
                place.name(),
                describe::type_name(old.kind)
            )));
        }
        let mut there = vec![false; self.set.values().len()];
        let mut len = 0usize;
        for item in old.children() {
            if let Some(at) = self.set.find(item.value()) {
                there[at] = true;
            }
            len += 1;
        }
        let new = self.set.values().iter().zip(there).filter(|(_, there)| !there);
        let new: Vec<Element<'_>> = new.map(|(held, _)| held.element()).collect();
        if new.is_empty() {
            return Ok(());
        }
        let array = run.edits.open(old.bytes);
        run.edits.append(&array, |out| {
            for (at, value) in new.into_iter().enumerate() {
                out.copy_as(&(len + at).to_string(), value);
            }
        })?;
        run.edits.close(array)
    }

    fn scope(&self) -> Scope {
        Scope::Whole
    }

    fn absent(&self, _: &Facts<'_>) -> Result<Absent> {
        Ok(Absent::Creates)
    }

    fn create(
        &self,
        key: &str,
        _: &Place<'_>,
        _: &Facts<'_>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        out.begin_array(key);
        self.set.values().iter().for_each(|held| out.copy_next(held.element()));
        out.end();
        Ok(())
    }

    fn depth(&self) -> usize {
        self.depth
    }
}
