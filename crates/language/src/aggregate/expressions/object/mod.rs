//! Documents: merging, and fields by computed names.

mod get_field;
pub mod merge_objects;
mod set_field;

use super::Row;
use super::table::Arity;

pub const ROWS: &[Row] = &[
    Row::own("$getField", get_field::parse, "a field, whatever its name"),
    Row::call("$mergeObjects", Arity::Any, merge_objects::evaluate, "documents, merged"),
    Row::own("$setField", set_field::parse, "a document with a field set"),
    Row::own("$unsetField", set_field::parse_unset, "a document without a field"),
];

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::{errors, evaluate, sample, values};
    use bson::bson;

    #[test]
    fn fields() {
        values(vec![
            (bson!({"$getField": "int"}), bson!(7)),
            (
                bson!({"$getField": {"field": "a.b", "input": {"$setField": {"field": "a.b", "input": {}, "value": 1}}}}),
                bson!(1),
            ),
            (
                bson!({"$getField": {"field": {"$literal": "$x"}, "input": {"$literal": {"$x": 5}}}}),
                bson!(5),
            ),
            (bson!({"$getField": {"field": "a", "input": "$null"}}), bson!(null)),
            (
                bson!({"$setField": {"field": "b", "input": {"a": 1}, "value": 2}}),
                bson!({"a": 1, "b": 2}),
            ),
            (
                bson!({"$setField": {"field": "a", "input": {"a": 1, "b": 2}, "value": "$$REMOVE"}}),
                bson!({"b": 2}),
            ),
            (bson!({"$setField": {"field": "a", "input": "$null", "value": 1}}), bson!(null)),
            (bson!({"$unsetField": {"field": "a", "input": {"a": 1, "b": 2}}}), bson!({"b": 2})),
            (
                bson!({"$mergeObjects": [{"a": 1, "b": 2}, null, {"b": 3, "c": 4}]}),
                bson!({"a": 1, "b": 3, "c": 4}),
            ),
            (bson!({"$mergeObjects": "$missing"}), bson!({})),
            (bson!({"$mergeObjects": [[{"a": 1}, {"b": 2}]]}), bson!({"a": 1, "b": 2})),
        ]);
        assert_eq!(evaluate(bson!({"$getField": "nothing"}), sample()).unwrap(), None);
        assert_eq!(
            evaluate(bson!({"$getField": {"field": "a", "input": "$int"}}), sample()).unwrap(),
            None
        );
        errors(vec![
            (bson!({"$getField": {"field": "a", "x": 1}}), 3041701),
            (bson!({"$getField": {"input": {}}}), 3041702),
            (bson!({"$getField": {"field": "a"}}), 3041703),
            (bson!({"$getField": 1}), 5654602),
            (bson!({"$getField": "$int"}), 5654600),
            (bson!({"$setField": 1}), 4161100),
            (bson!({"$setField": {"x": 1}}), 4161101),
            (bson!({"$setField": {"input": {}, "value": 1}}), 4161102),
            (bson!({"$setField": {"field": "a", "input": {}}}), 4161103),
            (bson!({"$setField": {"field": "a", "input": "$int", "value": 1}}), 4161105),
            (bson!({"$setField": {"field": 1, "input": {}, "value": 1}}), 4161107),
            (bson!({"$setField": {"field": "$int", "input": {}, "value": 1}}), 4161108),
            (bson!({"$setField": {"field": "a", "value": 1}}), 4161109),
            (bson!({"$mergeObjects": "$int"}), 40400),
        ]);
    }
}
