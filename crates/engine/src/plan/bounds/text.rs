//! Bounds and values as `explain` writes them: `[1, 5)`, `["a", {})`.

use super::interval::{Interval, Intervals};

/// The intervals of a field, in the order they are scanned.
pub fn intervals(of: &Intervals, descending: bool) -> Vec<String> {
    let texts = of.as_slice().iter().map(|interval| self::interval(interval, descending));
    if descending { texts.rev().collect() } else { texts.collect() }
}

fn interval(of: &Interval, descending: bool) -> String {
    let (from, from_inclusive, to, to_inclusive) = if descending {
        (&of.end, of.end_inclusive, &of.start, of.start_inclusive)
    } else {
        (&of.start, of.start_inclusive, &of.end, of.end_inclusive)
    };
    let mut text = String::new();
    text.push(if from_inclusive { '[' } else { '(' });
    text.push_str(&value::text::value(from.value.as_raw_bson_ref()));
    text.push_str(", ");
    text.push_str(&value::text::value(to.value.as_raw_bson_ref()));
    text.push(if to_inclusive { ']' } else { ')' });
    text
}
