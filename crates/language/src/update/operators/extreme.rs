//! What `$min` and `$max` share.

use super::super::operator::{Absent, Argument, Held, Operator, Scope, depth_below};
use super::super::place::Place;
use super::super::walk::{Facts, Run};
use error::Result;
use std::cmp::Ordering;
use std::sync::Arc;
use value::order::compare_with;
use value::{Collator, DocumentWriter, Element};

#[derive(Debug)]
pub struct Extreme {
    value: Held,
    depth: usize,
    /// How the new value must compare to the old one to take its place.
    replaces: Ordering,
    collator: Option<Arc<Collator>>,
}

impl Extreme {
    pub fn new(argument: &Argument<'_>, replaces: Ordering) -> Extreme {
        Extreme {
            value: argument.held(),
            depth: depth_below(argument.field),
            replaces,
            collator: argument.context.collator.clone(),
        }
    }
}

impl Operator for Extreme {
    fn update<'d>(&self, old: Element<'d>, _: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        let order = compare_with(self.value.value(), old.value(), self.collator.as_deref());
        if order != self.replaces {
            return Ok(());
        }
        run.edits.replace(old, |out| out.copy_as(old.key, self.value.element()))
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

    fn scope(&self) -> Scope {
        Scope::Compared
    }
}
