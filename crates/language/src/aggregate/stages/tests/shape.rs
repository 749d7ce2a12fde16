use crate::Context;
use crate::aggregate::Pipeline;
use crate::aggregate::stages::testing::{check, run, stages};
use bson::{RawDocumentBuf, doc};

#[test]
fn fields_are_added_in_place_or_at_the_end() {
    check(
        vec![doc! {"$addFields": {"b": {"$add": ["$a", 1]}, "c.d": 5, "e": {"f": "$a"}}}],
        vec![doc! {"_id": 1, "a": 1, "b": 0, "z": 9, "c": [{"x": 1}, 2]}],
        vec![
            doc! {"_id": 1, "a": 1, "b": 2, "z": 9, "c": [{"x": 1, "d": 5}, {"d": 5}], "e": {"f": 1}},
        ],
    );
    check(
        vec![doc! {"$set": {"a": "$$REMOVE", "b": "$missing", "c.d": "$missing"}}],
        vec![doc! {"a": 1, "b": 2}],
        vec![doc! {"c": {}}],
    );
}

#[test]
fn fields_are_removed() {
    check(
        vec![doc! {"$unset": ["a", "b.c", "d.e"]}],
        vec![doc! {"a": 1, "b": {"c": 1, "x": 2}, "d": [{"e": 1, "f": 2}, 3]}],
        vec![doc! {"b": {"x": 2}, "d": [{"f": 2}, 3]}],
    );
    check(vec![doc! {"$unset": "a"}], vec![doc! {"b": 1}], vec![doc! {"b": 1}]);
}

#[test]
fn roots_are_replaced() {
    check(
        vec![doc! {"$replaceRoot": {"newRoot": "$a"}}],
        vec![doc! {"a": {"b": 1}}],
        vec![doc! {"b": 1}],
    );
    check(
        vec![doc! {"$replaceWith": {"x": "$a", "y": "$b"}}],
        vec![doc! {"a": 1}],
        vec![doc! {"x": 1}],
    );
    let wrong = run(vec![doc! {"$replaceWith": "$a"}], vec![doc! {"a": 1}]).unwrap_err();
    assert_eq!(wrong.code().number(), 40228);
    let missing = run(vec![doc! {"$replaceRoot": {"newRoot": "$a"}}], vec![doc! {}]).unwrap_err();
    assert_eq!(missing.code().number(), 40228);
}

#[test]
fn arrays_are_unwound() {
    let input = || {
        vec![
            doc! {"_id": 1, "a": [1, 2]},
            doc! {"_id": 2, "a": []},
            doc! {"_id": 3, "a": null},
            doc! {"_id": 4},
            doc! {"_id": 5, "a": 7},
        ]
    };
    check(
        vec![doc! {"$unwind": "$a"}],
        input(),
        vec![doc! {"_id": 1, "a": 1}, doc! {"_id": 1, "a": 2}, doc! {"_id": 5, "a": 7}],
    );
    check(
        vec![
            doc! {"$unwind": {"path": "$a", "preserveNullAndEmptyArrays": true, "includeArrayIndex": "i"}},
        ],
        input(),
        vec![
            doc! {"_id": 1, "a": 1, "i": 0i64},
            doc! {"_id": 1, "a": 2, "i": 1i64},
            doc! {"_id": 2, "i": null},
            doc! {"_id": 3, "a": null, "i": null},
            doc! {"_id": 4, "i": null},
            doc! {"_id": 5, "a": 7, "i": null},
        ],
    );
    check(
        vec![doc! {"$unwind": "$a.b"}],
        vec![doc! {"a": {"b": [1, 2], "c": 3}}, doc! {"a": [{"b": [1]}]}],
        vec![doc! {"a": {"b": 1, "c": 3}}, doc! {"a": {"b": 2, "c": 3}}],
    );
}

#[test]
fn projections_and_filters() {
    check(
        vec![
            doc! {"$match": {"a": {"$gt": 1}}},
            doc! {"$project": {"_id": 0, "b": {"$multiply": ["$a", 2]}}},
        ],
        vec![doc! {"_id": 1, "a": 1}, doc! {"_id": 2, "a": 2}],
        vec![doc! {"b": 4}],
    );
}

#[test]
fn documents_are_redacted() {
    let level = doc! {"$cond": [{"$lte": ["$level", 1]}, "$$DESCEND", "$$PRUNE"]};
    check(
        vec![doc! {"$redact": level}],
        vec![
            doc! {"level": 1, "a": {"level": 2, "x": 1}, "b": [{"level": 1, "y": 1}, {"level": 3}, 4]},
            doc! {"level": 5},
        ],
        vec![doc! {"level": 1, "b": [{"level": 1, "y": 1}, 4]}],
    );
    let error = run(vec![doc! {"$redact": "$a"}], vec![doc! {"a": 1}]).unwrap_err();
    assert_eq!(error.code().number(), 17053);
}

#[test]
fn updates_apply_pipelines_to_one_document() {
    let parse = |pipeline| Pipeline::parse_update(&stages(pipeline), &Context::new());
    let pipeline = parse(vec![doc! {"$set": {"a": 1}}, doc! {"$unset": "b"}]).unwrap();
    let document = RawDocumentBuf::try_from(&doc! {"b": 2}).unwrap();
    let updated = pipeline.apply(&document).unwrap();
    assert_eq!(updated, RawDocumentBuf::try_from(&doc! {"a": 1}).unwrap());
    let refused = parse(vec![doc! {"$limit": 1}]).unwrap_err();
    assert_eq!(refused.code().number(), 72);
}

#[test]
fn documents_and_facets() {
    check(
        vec![doc! {"$documents": [{"a": 1}, {"a": {"$add": [1, 1]}}]}, doc! {"$sort": {"a": -1}}],
        vec![],
        vec![doc! {"a": 2}, doc! {"a": 1}],
    );
    check(
        vec![
            doc! {"$facet": {"all": [{"$sort": {"a": 1}}], "sum": [{"$group": {"_id": null, "s": {"$sum": "$a"}}}], "none": [{"$match": {"a": 9}}]}},
        ],
        vec![doc! {"a": 2}, doc! {"a": 1}],
        vec![doc! {"all": [{"a": 1}, {"a": 2}], "sum": [{"_id": null, "s": 3}], "none": []}],
    );
    let sampled =
        run(vec![doc! {"$sample": {"size": 2}}], (0..10).map(|a| doc! {"a": a}).collect());
    assert_eq!(sampled.unwrap().len(), 2);
}
