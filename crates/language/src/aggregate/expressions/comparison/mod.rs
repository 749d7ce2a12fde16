//! `$cmp` and its kin: BSON order between any two values.

use super::node::own;
use super::table::Arity;
use super::{Arguments, Evaluated, Row, coerce};
use std::cmp::Ordering;

pub const ROWS: &[Row] = &[
    Row::call("$cmp", Arity::Exactly(2), cmp, "-1, 0 or 1, as BSON orders two values"),
    Row::call("$eq", Arity::Exactly(2), eq, "whether two values are equal"),
    Row::call("$gt", Arity::Exactly(2), gt, "whether the first is greater"),
    Row::call("$gte", Arity::Exactly(2), gte, "whether the first is greater or equal"),
    Row::call("$lt", Arity::Exactly(2), lt, "whether the first is less"),
    Row::call("$lte", Arity::Exactly(2), lte, "whether the first is less or equal"),
    Row::call("$ne", Arity::Exactly(2), ne, "whether two values differ"),
];

fn order(arguments: &Arguments<'_, '_>) -> Ordering {
    coerce::compare(arguments.get(0), arguments.get(1), arguments.collator)
}

fn cmp<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(order(&arguments) as i32)
}

fn eq<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(order(&arguments).is_eq())
}

fn gt<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(order(&arguments).is_gt())
}

fn gte<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(order(&arguments).is_ge())
}

fn lt<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(order(&arguments).is_lt())
}

fn lte<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(order(&arguments).is_le())
}

fn ne<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(order(&arguments).is_ne())
}

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::{errors, values};
    use bson::bson;

    #[test]
    fn values_of_comparisons() {
        values(vec![
            (bson!({"$cmp": ["$int", 8]}), bson!(-1)),
            (bson!({"$cmp": ["$int", "$long"]}), bson!(0)),
            (bson!({"$cmp": ["$string", "$int"]}), bson!(1)),
            (bson!({"$eq": ["$int", 7.0]}), bson!(true)),
            (bson!({"$eq": ["$missing", null]}), bson!(false)),
            (bson!({"$gt": [null, "$missing"]}), bson!(true)),
            (bson!({"$gte": ["$int", 7]}), bson!(true)),
            (bson!({"$lt": ["$array", [1, 2, 4]]}), bson!(true)),
            (bson!({"$lte": ["$string", "$int"]}), bson!(false)),
            (bson!({"$ne": ["$document", {"a": 1}]}), bson!(true)),
        ]);
        errors(vec![
            (bson!({"$eq": [1]}), 16020),
            (bson!({"$cmp": [1, 2, 3]}), 16020),
            (bson!({"$lt": 1}), 16020),
        ]);
    }
}
