//! `$max`: keeps the larger value, in BSON order.

use super::{Row, extreme::Extreme};
use std::cmp::Ordering;
use std::sync::Arc;

pub const ROW: Row = Row {
    name: "$max",
    parse: |argument| Ok(Arc::new(Extreme::new(argument, Ordering::Greater))),
    help: "keep the larger value",
};
