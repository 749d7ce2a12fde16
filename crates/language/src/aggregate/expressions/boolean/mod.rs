//! `$and`, `$not`, `$or`.

mod and;
mod decided;
mod not;
mod or;

use super::Row;
use super::table::Arity;

pub const ROWS: &[Row] = &[
    Row::own("$and", and::parse, "whether every operand is true"),
    Row::call("$not", Arity::Exactly(1), not::evaluate, "the opposite of its operand"),
    Row::own("$or", or::parse, "whether any operand is true"),
];

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::{errors, values};
    use bson::bson;

    #[test]
    fn values_of_booleans() {
        values(vec![
            (bson!({"$and": []}), bson!(true)),
            (bson!({"$and": ["$int", "$string"]}), bson!(true)),
            (bson!({"$and": ["$int", "$zero"]}), bson!(false)),
            (bson!({"$and": ["$missing"]}), bson!(false)),
            (bson!({"$and": [false, {"$divide": ["$int", "$zero"]}]}), bson!(false)),
            (bson!({"$or": []}), bson!(false)),
            (bson!({"$or": ["$null", "$int"]}), bson!(true)),
            (bson!({"$or": [true, {"$divide": ["$int", "$zero"]}]}), bson!(true)),
            (bson!({"$or": ["$null", "$missing"]}), bson!(false)),
            (bson!({"$not": "$zero"}), bson!(true)),
            (bson!({"$not": ["$missing"]}), bson!(true)),
            (bson!({"$not": [[false]]}), bson!(false)),
        ]);
        errors(vec![(bson!({"$not": [1, 2]}), 16020), (bson!({"$not": []}), 16020)]);
    }
}
