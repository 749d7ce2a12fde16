mod grouping;
mod joins;
mod misuse;
mod order;
mod shape;
mod sliding;
mod windows;

use super::*;

#[test]
fn rows_are_sorted() {
    assert!(ROWS.is_sorted_by_key(|row| row.name));
    assert!(REFUSED.is_sorted_by_key(|(name, _)| *name));
}
