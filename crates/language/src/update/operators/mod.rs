//! Update operators, one file each, and their table.

mod add_to_set;
mod arithmetic;
mod bit;
mod current_date;
mod extreme;
mod inc;
mod max;
mod min;
mod mul;
mod pop;
mod pull;
mod pull_all;
mod push;
mod push_sort;
mod rename;
mod set;
mod set_on_insert;
mod unset;
mod value_set;

pub(super) use set::Set;

use super::operator::{Argument, Operator};
use error::Result;
use std::sync::Arc;

/// One operator.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub parse: fn(&Argument<'_>) -> Result<Arc<dyn Operator>>,
    /// What it does, in a few words.
    pub help: &'static str,
}

/// Every operator, by name.
pub const TABLE: &[Row] = &[
    add_to_set::ROW,
    bit::ROW,
    current_date::ROW,
    inc::ROW,
    max::ROW,
    min::ROW,
    mul::ROW,
    pop::ROW,
    pull::ROW,
    pull_all::ROW,
    push::ROW,
    rename::ROW,
    set::ROW,
    set_on_insert::ROW,
    unset::ROW,
];

pub fn find(name: &str) -> Option<&'static Row> {
    TABLE.binary_search_by_key(&name, |row| row.name).ok().map(|at| &TABLE[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_so_that_names_are_found() {
        assert!(TABLE.is_sorted_by_key(|row| row.name));
        assert_eq!(find("$pull").unwrap().name, "$pull");
        assert!(find("$pul").is_none());
    }
}
