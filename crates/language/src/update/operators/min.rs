//! `$min`: keeps the smaller value, in BSON order.

use super::{Row, extreme::Extreme};
use std::cmp::Ordering;
use std::sync::Arc;

pub const ROW: Row = Row {
    name: "$min",
    parse: |argument| Ok(Arc::new(Extreme::new(argument, Ordering::Less))),
    help: "keep the smaller value",
};
