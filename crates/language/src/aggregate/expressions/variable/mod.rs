//! `$let`, and expressions that depend on more than their operands.

mod let_;
mod meta;
mod rand;
mod sample_rate;

use super::Row;

const NO_JAVASCRIPT: &str = "server-side JavaScript is not supported";

pub const ROWS: &[Row] = &[
    Row::refused("$function", NO_JAVASCRIPT),
    Row::own("$let", let_::parse, "a value computed with variables"),
    Row::own("$meta", meta::parse, "metadata of a document"),
    Row::own("$rand", rand::parse, "a random double").impure(),
    Row::own("$sampleRate", sample_rate::parse, "true with a given probability").impure(),
];

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::{errors, evaluate, sample, values};
    use bson::{Bson, bson};

    #[test]
    fn values_of_variables() {
        values(vec![
            (
                bson!({"$let": {"vars": {"x": "$int", "y": 2}, "in": {"$cmp": ["$$x", "$$y"]}}}),
                bson!(1),
            ),
            (bson!({"$let": {"vars": {"d": "$document"}, "in": "$$d.b.c"}}), bson!([1, 2])),
            (bson!({"$let": {"vars": {"CURRENT": "$document"}, "in": "$a"}}), bson!(1)),
            (bson!({"$let": {"vars": {"CURRENT": "$document"}, "in": "$$ROOT.int"}}), bson!(7)),
            (
                bson!({"$let": {"vars": {"x": 1}, "in": {"$let": {"vars": {"x": 2, "y": "$$x"}, "in": ["$$x", "$$y"]}}}}),
                bson!([2, 1]),
            ),
            (bson!("$document.b.c"), bson!([1, 2])),
            (bson!("$$CURRENT.int"), bson!(7)),
            (bson!({"a": "$int", "b": "$missing"}), bson!({"a": 7})),
            (bson!(["$int", "$missing"]), bson!([7, null])),
        ]);
        assert_eq!(evaluate(bson!("$$REMOVE"), sample()).unwrap(), None);
        assert_eq!(evaluate(bson!("$array.0"), sample()).unwrap(), Some(bson!([])));
        assert!(matches!(
            evaluate(bson!({"$rand": {}}), sample()).unwrap(),
            Some(Bson::Double(x)) if (0.0..1.0).contains(&x)
        ));
    }

    #[test]
    fn misuse_of_variables() {
        errors(vec![
            (bson!("$$unknown"), 17276),
            (bson!("$$KEEP"), 17276),
            (bson!("$"), 16872),
            (bson!("$$"), 9),
            (bson!("$$1x"), 9),
            (bson!("$$a-b"), 9),
            (bson!("$a."), 40353),
            (bson!("$a..b"), 15998),
            (bson!("$a.$b"), 16410),
            (bson!({"a": 1, "$b": 2}), 16410),
            (bson!({"a.b": 1}), 16412),
            (bson!({"": 1}), 15998),
            (bson!({"$unknown": 1}), 168),
            (bson!({"$eq": [1, 2], "b": 1}), 15983),
            (bson!({"$let": 1}), 16874),
            (bson!({"$let": {"vars": {}, "in": 1, "x": 1}}), 16875),
            (bson!({"$let": {"in": 1}}), 16876),
            (bson!({"$let": {"vars": {}}}), 16877),
            (bson!({"$let": {"vars": {"": 1}, "in": 1}}), 9),
            (bson!({"$let": {"vars": {"X": 1}, "in": 1}}), 9),
            (bson!({"$let": {"vars": {"a-b": 1}, "in": 1}}), 9),
            (bson!({"$rand": [1]}), 3040501),
            (bson!({"$rand": 1}), 10065),
            (bson!({"$let": {"vars": 1, "in": 1}}), 10065),
            (bson!({"$rand": {"a": 1}}), 3040501),
            (bson!({"$function": {}}), 115),
        ]);
    }

    #[test]
    fn nesting_is_bounded() {
        let mut expression = bson!(1);
        for _ in 0..300 {
            expression = bson!([expression]);
        }
        errors(vec![(expression, 15)]);
    }
}
