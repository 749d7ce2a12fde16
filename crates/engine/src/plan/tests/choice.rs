//! Which plan is chosen by rule.

use super::world::{World, query, summary};
use crate::plan::{Purpose, Query};
use bson::{RawDocumentBuf, rawdoc};

fn assert_plans(indexes: &[RawDocumentBuf], documents: &[RawDocumentBuf], table: &[(Query, &str)]) {
    let world = World::new(indexes, documents.to_vec());
    for (query, expected) in table {
        let copy = Query {
            filter: query.filter.clone(),
            sort: query.sort.clone(),
            projection: query.projection.clone(),
            purpose: query.purpose.clone(),
            limit: query.limit,
            skip: query.skip,
            hint: query.hint.clone(),
            ..Query::new(query.filter.clone())
        };
        let plan = world.plan(copy);
        assert_eq!(summary(&plan.root), *expected, "{:?}", query.filter.to_document());
    }
}

fn counting(filter: RawDocumentBuf) -> Query {
    Query { purpose: Purpose::Count, ..query(&filter) }
}

fn distinct(path: &str, filter: RawDocumentBuf) -> Query {
    Query { purpose: Purpose::Distinct(value::Path::new(path)), ..query(&filter) }
}

#[test]
fn equality_then_sort_then_range() {
    let indexes = [
        rawdoc! { "key": { "a": 1 } },
        rawdoc! { "key": { "a": 1, "b": 1 } },
        rawdoc! { "key": { "c": -1 } },
    ];
    assert_plans(
        &indexes,
        &[],
        &[
            (query(&rawdoc! { "_id": 5 }), "EXPRESS_IXSCAN"),
            (query(&rawdoc! { "_id": { "$gt": 5 } }), "FETCH(IXSCAN _id_)"),
            (query(&rawdoc! {}), "COLLSCAN"),
            (query(&rawdoc! { "z": 1 }), "COLLSCAN filter"),
            (query(&rawdoc! { "a": 1 }), "FETCH(IXSCAN a_1)"),
            (query(&rawdoc! { "a": 1, "b": 2 }), "FETCH(IXSCAN a_1_b_1)"),
            (query(&rawdoc! { "a": 1, "z": 2 }), "FETCH filter(IXSCAN a_1)"),
            (query(&rawdoc! { "a": 1 }).sorted(&rawdoc! { "b": 1 }), "FETCH(IXSCAN a_1_b_1)"),
            (
                query(&rawdoc! { "a": 1 }).sorted(&rawdoc! { "b": -1 }),
                "FETCH(IXSCAN a_1_b_1 backward)",
            ),
            (query(&rawdoc! { "a": 1 }).sorted(&rawdoc! { "z": 1 }), "SORT(FETCH(IXSCAN a_1))"),
            (query(&rawdoc! {}).sorted(&rawdoc! { "c": 1 }), "FETCH(IXSCAN c_-1 backward)"),
            (
                query(&rawdoc! { "a": { "$in": [1, 2] } }).sorted(&rawdoc! { "b": 1 }),
                "FETCH(SORT_MERGE(IXSCAN a_1_b_1, IXSCAN a_1_b_1))",
            ),
            (query(&rawdoc! { "a": { "$gt": 5, "$lt": 3 } }), "EOF"),
            (query(&rawdoc! { "a": { "$in": [] } }), "EOF"),
            (
                query(&rawdoc! { "$or": [{ "a": 1 }, { "c": 1 }] }),
                "FETCH(OR(IXSCAN a_1, IXSCAN c_-1))",
            ),
            (query(&rawdoc! { "$or": [{ "a": 1 }, { "z": 1 }] }), "COLLSCAN filter"),
            (query(&rawdoc! { "b": 1 }), "COLLSCAN filter"),
            (query(&rawdoc! { "b": 1 }).hinted("c_-1"), "FETCH filter(IXSCAN c_-1)"),
            (
                query(&rawdoc! {}).sorted(&rawdoc! { "z": 1 }).limited(5).skipping(2),
                "LIMIT(SKIP(SORT(COLLSCAN)))",
            ),
        ],
    );
}

#[test]
fn an_index_alone_where_it_can() {
    let indexes = [rawdoc! { "key": { "a": 1, "b": 1 } }, rawdoc! { "key": { "m": 1 } }];
    let documents = [rawdoc! { "_id": 1, "a": 1, "b": 1, "m": [1, 2] }];
    assert_plans(
        &indexes,
        &documents,
        &[
            (
                query(&rawdoc! { "a": 1 }).projected(&rawdoc! { "_id": 0, "b": 1 }),
                "PROJECTION_COVERED(IXSCAN a_1_b_1)",
            ),
            (
                query(&rawdoc! { "a": 1 }).projected(&rawdoc! { "b": 1 }),
                "PROJECTION_DEFAULT(FETCH(IXSCAN a_1_b_1))",
            ),
            (
                query(&rawdoc! { "m": 1 }).projected(&rawdoc! { "_id": 0, "m": 1 }),
                "PROJECTION_DEFAULT(FETCH(IXSCAN m_1))",
            ),
            (
                query(&rawdoc! { "a": { "$regex": "x$" } })
                    .projected(&rawdoc! { "_id": 0, "a": 1 }),
                "PROJECTION_COVERED(IXSCAN a_1_b_1 filter)",
            ),
            (counting(rawdoc! {}), "RECORD_STORE_FAST_COUNT"),
            (counting(rawdoc! { "a": 1 }), "COUNT(COUNT_SCAN a_1_b_1)"),
            (counting(rawdoc! { "a": 1, "z": 1 }), "COUNT(FETCH filter(IXSCAN a_1_b_1))"),
            (counting(rawdoc! { "a": null }), "COUNT(COUNT_SCAN a_1_b_1)"),
            (counting(rawdoc! { "m": null }), "COUNT(FETCH filter(IXSCAN m_1))"),
            (distinct("a", rawdoc! {}), "DISTINCT_SCAN a_1_b_1"),
            (distinct("b", rawdoc! { "a": 1 }), "DISTINCT_SCAN a_1_b_1"),
            (distinct("m", rawdoc! {}), "DISTINCT_SCAN m_1"),
            (distinct("m", rawdoc! { "m": 1 }), "FETCH(IXSCAN m_1)"),
            (distinct("z", rawdoc! {}), "COLLSCAN"),
        ],
    );
}

#[test]
fn indexes_that_do_not_hold_every_document() {
    let indexes = [
        rawdoc! { "key": { "s": 1 }, "sparse": true },
        rawdoc! { "key": { "p": 1 }, "partialFilterExpression": { "q": { "$gt": 5 } } },
        rawdoc! { "key": { "h": "hashed" } },
        rawdoc! { "key": { "x": 1 }, "hidden": true },
        rawdoc! { "key": { "w.$**": 1 } },
    ];
    assert_plans(
        &indexes,
        &[],
        &[
            (query(&rawdoc! { "s": 1 }), "FETCH(IXSCAN s_1)"),
            (query(&rawdoc! { "s": { "$exists": true } }), "FETCH(IXSCAN s_1)"),
            (query(&rawdoc! { "s": null }), "COLLSCAN filter"),
            (query(&rawdoc! { "s": { "$ne": 1 } }), "COLLSCAN filter"),
            (query(&rawdoc! {}).sorted(&rawdoc! { "s": 1 }), "SORT(COLLSCAN)"),
            (query(&rawdoc! {}).hinted("s_1"), "FETCH(IXSCAN s_1)"),
            (query(&rawdoc! { "p": 1 }), "COLLSCAN filter"),
            (query(&rawdoc! { "p": 1, "q": { "$gt": 3 } }), "COLLSCAN filter"),
            (query(&rawdoc! { "p": 1, "q": { "$gte": 6 } }), "FETCH filter(IXSCAN p_1)"),
            (query(&rawdoc! { "p": 1, "q": { "$in": [7, 8] } }), "FETCH filter(IXSCAN p_1)"),
            (query(&rawdoc! { "h": 1 }), "FETCH filter(IXSCAN h_hashed)"),
            (query(&rawdoc! { "h": { "$gt": 1 } }), "COLLSCAN filter"),
            (query(&rawdoc! { "x": 1 }), "COLLSCAN filter"),
            (query(&rawdoc! { "w.a": 1 }), "FETCH(IXSCAN w.$**_1)"),
            (query(&rawdoc! { "w.a": null }), "COLLSCAN filter"),
            (query(&rawdoc! { "v.a": 1 }), "COLLSCAN filter"),
        ],
    );
}

#[test]
fn a_bad_hint_is_an_error() {
    let world = World::new(&[rawdoc! { "key": { "x": 1 }, "hidden": true }], vec![]);
    for name in ["nothing_1", "x_1"] {
        let error = world.run(query(&rawdoc! {}).hinted(name)).unwrap_err();
        assert_eq!(error.code().number(), 2);
    }
}

#[test]
fn arrays_take_an_order_away() {
    let indexes = [rawdoc! { "key": { "a": 1, "b": 1 } }];
    let documents = [rawdoc! { "_id": 1, "a": 1, "b": [1, 2] }];
    assert_plans(
        &indexes,
        &documents,
        &[
            (query(&rawdoc! { "a": 1 }).sorted(&rawdoc! { "b": 1 }), "FETCH(IXSCAN a_1_b_1)"),
            (
                query(&rawdoc! { "a": 1, "b": { "$gt": 1 } }).sorted(&rawdoc! { "b": 1 }),
                "SORT(FETCH(IXSCAN a_1_b_1))",
            ),
        ],
    );
}
