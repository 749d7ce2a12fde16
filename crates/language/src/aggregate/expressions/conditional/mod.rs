//! `$cond`, `$ifNull`, `$switch`: only the branch that is taken is evaluated.

mod cond;
mod if_null;
mod switch;

use super::Row;

pub const ROWS: &[Row] = &[
    Row::own("$cond", cond::parse, "one of two values, by a condition"),
    Row::own("$ifNull", if_null::parse, "the first operand that is not null or missing"),
    Row::own("$switch", switch::parse, "the value of the first branch whose case is true"),
];

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::{errors, evaluate, sample, values};
    use bson::bson;

    #[test]
    fn values_of_conditionals() {
        values(vec![
            (bson!({"$cond": ["$true", 1, 2]}), bson!(1)),
            (bson!({"$cond": {"if": "$missing", "then": 1, "else": "$string"}}), bson!("seven")),
            (bson!({"$cond": [true, 1, {"$divide": [1, "$zero"]}]}), bson!(1)),
            (bson!({"$ifNull": ["$missing", "$null", "$int"]}), bson!(7)),
            (bson!({"$ifNull": ["$null", null]}), bson!(null)),
            (
                bson!({"$switch": {"branches": [
                    {"case": "$false", "then": 1}, {"case": {"$gt": ["$int", 5]}, "then": 2},
                ], "default": 3}}),
                bson!(2),
            ),
            (
                bson!({"$switch": {"branches": [{"case": "$null", "then": 1}], "default": 3}}),
                bson!(3),
            ),
        ]);
        assert_eq!(evaluate(bson!({"$ifNull": ["$null", "$missing"]}), sample()).unwrap(), None);
    }

    #[test]
    fn misuse_of_conditionals() {
        errors(vec![
            (bson!({"$cond": [true, 1, {"$divide": [1, 0]}]}), 2),
            (bson!({"$cond": [1, 2]}), 16020),
            (bson!({"$cond": {"then": 1, "else": 2}}), 17080),
            (bson!({"$cond": {"if": 1, "else": 2}}), 17081),
            (bson!({"$cond": {"if": 1, "then": 2}}), 17082),
            (bson!({"$cond": {"if": 1, "then": 2, "else": 3, "other": 4}}), 17083),
            (bson!({"$ifNull": [1]}), 1257300),
            (bson!({"$switch": 1}), 40060),
            (bson!({"$switch": {"branches": 1}}), 40061),
            (bson!({"$switch": {"branches": [1]}}), 40062),
            (bson!({"$switch": {"branches": [{"foo": 1}]}}), 40063),
            (bson!({"$switch": {"branches": [{"then": 1}]}}), 40064),
            (bson!({"$switch": {"branches": [{"case": 1}]}}), 40065),
            (bson!({"$switch": {"branches": [{"case": "$false", "then": 1}]}}), 40066),
            (bson!({"$switch": {"other": 1}}), 40067),
            (bson!({"$switch": {"branches": []}}), 40068),
        ]);
    }
}
