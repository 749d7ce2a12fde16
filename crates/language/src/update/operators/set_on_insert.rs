//! `$setOnInsert`: `$set`, only in the document that an upsert inserts.

use super::super::operator::{Absent, Operator};
use super::super::place::Place;
use super::super::walk::{Facts, Run};
use super::Row;
use super::set::Set;
use error::Result;
use std::sync::Arc;
use value::{DocumentWriter, Element};

pub const ROW: Row = Row {
    name: "$setOnInsert",
    parse: |argument| Ok(Arc::new(SetOnInsert(Set::new(argument.field)))),
    help: "set a field in a document that an upsert inserts",
};

#[derive(Debug)]
struct SetOnInsert(Set);

impl Operator for SetOnInsert {
    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        self.0.update(old, place, run)
    }

    fn absent(&self, facts: &Facts<'_>) -> Result<Absent> {
        self.0.absent(facts)
    }

    fn create(
        &self,
        key: &str,
        place: &Place<'_>,
        facts: &Facts<'_>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        self.0.create(key, place, facts, out)
    }

    fn depth(&self) -> usize {
        self.0.depth()
    }

    fn insert_only(&self) -> bool {
        true
    }

    fn reads(&self) -> bool {
        false
    }
}
