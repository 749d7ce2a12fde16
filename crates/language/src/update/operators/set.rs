//! `$set`: gives a field a value.

use super::super::COMPARED_BYTES_MIN;
use super::super::edits::Edits;
use super::super::operator::{Absent, Held, Operator, depth_below, identical};
use super::super::place::Place;
use super::super::walk::{Facts, Run};
use super::Row;
use error::Result;
use std::sync::Arc;
use value::{DocumentWriter, Element};

pub const ROW: Row = Row {
    name: "$set",
    parse: |argument| Ok(Arc::new(Set::new(argument.field))),
    help: "set a field",
};

#[derive(Debug)]
pub struct Set {
    value: Held,
    depth: usize,
    is_id: bool,
}

impl Set {
    /// Sets the value of `field`; its key is the path.
    pub fn new(field: Element<'_>) -> Set {
        Set { value: Held::new(field), depth: depth_below(field), is_id: field.key == "_id" }
    }
}

impl Operator for Set {
    fn update<'d>(&self, old: Element<'d>, _: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        put(&mut run.edits, old, self.value.element())
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
        out.copy_as(key, self.value.element());
        Ok(())
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn reads(&self) -> bool {
        self.is_id || self.value.len() >= COMPARED_BYTES_MIN
    }
}

/// Replaces a value by another, unless they are the same to the last byte.
pub fn put<'d>(edits: &mut Edits<'d>, old: Element<'d>, new: Element<'_>) -> Result<()> {
    if identical(old, new) {
        return Ok(());
    }
    edits.replace(old, |out| out.copy_as(old.key, new))
}
