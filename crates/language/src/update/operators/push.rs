//! `$push`: appends to an array; with `$each`, `$position`, `$sort`, `$slice`.

use super::super::operator::{
    Absent, Argument, Ends, Held, Operator, Scope, depth_below, identical, integer,
};
use super::super::place::{Place, id_of};
use super::super::walk::{Facts, Run};
use super::Row;
use super::push_sort::Sort;
use crate::describe;
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::{Code, Result};
use std::sync::Arc;
use value::{DocumentWriter, Element};

pub const ROW: Row = Row { name: "$push", parse, help: "append to an array" };

/// What arranging an array may take without a reservation.
const FREE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
struct Push {
    values: Vec<Held>,
    depth: usize,
    position: Option<i64>,
    sort: Option<Sort>,
    slice: Option<i64>,
}

fn parse(argument: &Argument<'_>) -> Result<Arc<dyn Operator>> {
    let mut push = Push { values: Vec::new(), depth: 0, position: None, sort: None, slice: None };
    let is_each = matches!(argument.value(), RawBsonRef::Document(_))
        && argument.field.children().any(|clause| clause.key == "$each");
    if is_each {
        push.parse_clauses(argument)?;
    } else {
        push.values.push(argument.held());
    }
    let depths = push.values.iter().map(|held| 1 + depth_below(held.element()));
    push.depth = depths.max().unwrap_or(0);
    Ok(Arc::new(push))
}

impl Push {
    fn parse_clauses(&mut self, argument: &Argument<'_>) -> Result<()> {
        let mut seen = Vec::new();
        for clause in argument.field.children() {
            if seen.contains(&clause.key) {
                return Err(Code::BadValue.error(format!("Only one {} is supported.", clause.key)));
            }
            seen.push(clause.key);
            let wrong = |words: &str| {
                Code::BadValue.error(format!("{words}{}", describe::type_name(clause.kind)))
            };
            match clause.key {
                "$each" if clause.kind == ElementType::Array => {
                    self.values = clause.children().map(Held::new).collect();
                }
                "$each" => {
                    return Err(wrong(
                        "The argument to $each in $push must be an array but it was of type: ",
                    ));
                }
                "$position" => {
                    self.position = Some(integer(clause.value()).ok_or_else(|| {
                        wrong("The value for $position must be an integer value, not of type: ")
                    })?);
                }
                "$slice" => {
                    self.slice = Some(integer(clause.value()).ok_or_else(|| {
                        wrong("The value for $slice must be an integer value but was given type: ")
                    })?);
                }
                "$sort" => {
                    self.sort = Some(Sort::parse(clause, argument.context.collator.clone())?);
                }
                key => {
                    return Err(
                        Code::BadValue.error(format!("Unrecognized clause in $push: {key}"))
                    );
                }
            }
        }
        Ok(())
    }

    /// Reserves what it takes to arrange a long array.
    fn reserve(&self, elements: usize) -> Result<budget::Held> {
        let key_bytes = self.sort.as_ref().map_or(0, Sort::key_bytes);
        // Twice: an array is copied while it grows, and while it is sorted.
        let bytes = (elements + self.values.len()) * 2 * (size_of::<Element<'_>>() + key_bytes);
        let mut room = budget::Held::new(budget::Kind::Work);
        if bytes > FREE_BYTES {
            room.resize(bytes)?;
        }
        Ok(room)
    }

    /// The elements of the array after the update.
    fn arrange<'a>(&'a self, mut items: Vec<Element<'a>>) -> Result<Vec<Element<'a>>> {
        let len = items.len();
        let at = match self.position {
            None => len,
            Some(position) if position >= 0 => usize::try_from(position).unwrap_or(len).min(len),
            Some(position) => {
                len.saturating_sub(usize::try_from(position.unsigned_abs()).unwrap_or(len))
            }
        };
        items.splice(at..at, self.values.iter().map(Held::element));
        if let Some(sort) = &self.sort {
            sort.sort(&mut items)?;
        }
        if let Some(slice) = self.slice {
            let keep = usize::try_from(slice.unsigned_abs()).unwrap_or(usize::MAX);
            if slice >= 0 {
                items.truncate(keep);
            } else {
                items.drain(..items.len().saturating_sub(keep));
            }
        }
        Ok(items)
    }
}

impl Operator for Push {
    fn appended(&self) -> Option<usize> {
        let appends = self.position.is_none() && self.sort.is_none() && self.slice.is_none();
        appends.then_some(self.values.len())
    }

    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        if old.kind != ElementType::Array {
            return Err(Code::BadValue.error(format!(
                "The field '{}' must be an array but is of type {} in document {{{}}}",
                place.path(),
                describe::type_name(old.kind),
                id_of(run.facts.before)
            )));
        }
        if self.appended().is_some() {
            if self.values.is_empty() {
                return Ok(());
            }
            // Only what is new is written; the array's bytes are copied as one run.
            let len = old.children().count();
            let array = run.edits.open(old.bytes);
            run.edits.append(&array, |out| {
                for (at, held) in self.values.iter().enumerate() {
                    out.copy_as(&(len + at).to_string(), held.element());
                }
            })?;
            return run.edits.close(array);
        }
        let _room = self.reserve(old.children().count())?;
        let after = self.arrange(old.children().collect())?;
        let same = self.values.is_empty()
            && old.children().count() == after.len()
            && old.children().zip(&after).all(|(a, b)| identical(a, *b));
        if same {
            return Ok(());
        }
        run.edits.replace(old, |out| write(old.key, after, out))
    }

    fn added(&self) -> Vec<Element<'_>> {
        self.values.iter().map(Held::element).collect()
    }

    fn scope(&self) -> Scope {
        let (front, slice) = (self.position == Some(0), self.slice);
        match (self.position, &self.sort) {
            (None, None) if slice.is_none() => Scope::End,
            (None | Some(0), None) => Scope::Ends(Ends { front, slice }),
            _ => Scope::Whole,
        }
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
        write(key, self.arrange(Vec::new())?, out);
        Ok(())
    }

    fn depth(&self) -> usize {
        self.depth
    }
}

fn write(key: &str, items: Vec<Element<'_>>, out: &mut DocumentWriter) {
    out.begin_array(key);
    items.into_iter().for_each(|item| out.copy_next(item));
    out.end();
}
