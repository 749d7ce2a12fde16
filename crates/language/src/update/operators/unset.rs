//! `$unset`: removes a field; an element of an array becomes null.

use super::super::operator::{Absent, Operator, Scope};
use super::super::place::Place;
use super::super::walk::{Facts, Run};
use super::Row;
use error::Result;
use std::sync::Arc;
use value::Element;

pub const ROW: Row = Row { name: "$unset", parse: |_| Ok(Arc::new(Unset)), help: "remove a field" };

#[derive(Debug)]
struct Unset;

impl Operator for Unset {
    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        if place.in_array {
            run.edits.replace(old, |out| out.append_null(old.key))
        } else {
            run.edits.remove(old)
        }
    }

    fn scope(&self) -> Scope {
        Scope::Removed
    }

    fn absent(&self, _: &Facts<'_>) -> Result<Absent> {
        Ok(Absent::Ignores)
    }

    fn reads(&self) -> bool {
        false
    }
}
