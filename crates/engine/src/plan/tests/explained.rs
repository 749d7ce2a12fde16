//! What `explain` says.

use super::world::{World, query};
use crate::plan::explain::{Explained, Verbosity, explain};
use crate::plan::{Interrupt, Query};
use bson::{Document, RawDocumentBuf, doc, rawdoc};
use value::DocumentWriter;

fn explained(world: &World, query: Query, verbosity: Verbosity) -> Document {
    let mut out = DocumentWriter::new();
    let explained = Explained {
        namespace: &world.collection.namespace,
        collection: Some(&world.collection),
        query,
        above: None,
        verbosity,
    };
    explain(explained, &world.view, &Interrupt::default(), &mut out).unwrap();
    let document: RawDocumentBuf = out.finish();
    Document::try_from(document).unwrap()
}

fn world() -> World {
    let documents =
        (0..10).map(|n| rawdoc! { "_id": n, "a": [n, n + 1], "b": { "c": n }, "s": "x" }).collect();
    let indexes =
        [rawdoc! { "key": { "a": 1 } }, rawdoc! { "key": { "b.c": -1, "s": 1 }, "sparse": true }];
    World::new(&indexes, documents)
}

#[test]
fn an_index_scan_tells_its_index_and_bounds() {
    let plan = explained(&world(), query(&rawdoc! { "a": { "$gte": 3 } }), Verbosity::QueryPlanner);
    let planner = plan.get_document("queryPlanner").unwrap();
    assert_eq!(planner.get_str("namespace").unwrap(), "test.things");
    assert_eq!(planner.get_document("parsedQuery").unwrap(), &doc! { "a": { "$gte": 3 } });
    assert_eq!(
        planner.get_document("winningPlan").unwrap(),
        &doc! {
            "isCached": false,
            "stage": "FETCH",
            "inputStage": {
                "stage": "IXSCAN",
                "keyPattern": { "a": 1 },
                "indexName": "a_1",
                "isMultiKey": true,
                "multiKeyPaths": { "a": ["a"] },
                "isUnique": false,
                "isSparse": false,
                "isPartial": false,
                "indexVersion": 2,
                "direction": "forward",
                "indexBounds": { "a": ["[3, inf.0]"] },
            },
        }
    );
    assert!(planner.get_array("rejectedPlans").unwrap().is_empty());
    assert!(!plan.contains_key("executionStats"));
}

#[test]
fn descending_fields_and_filters() {
    let filter = rawdoc! { "b.c": { "$gt": 3, "$lte": 5 }, "z": null };
    let plan = explained(&world(), query(&filter), Verbosity::QueryPlanner);
    let winning = plan.get_document("queryPlanner").unwrap().get_document("winningPlan").unwrap();
    assert_eq!(winning.get_document("filter").unwrap(), &doc! { "z": { "$eq": null } });
    let scan = winning.get_document("inputStage").unwrap();
    assert_eq!(
        scan.get_document("indexBounds").unwrap(),
        &doc! { "b.c": ["[5, 3)"], "s": ["[MinKey, MaxKey]"] }
    );
    assert_eq!(scan.get_document("multiKeyPaths").unwrap(), &doc! { "b.c": [], "s": [] });
}

#[test]
fn what_was_read_is_counted() {
    let query = query(&rawdoc! { "a": { "$gte": 3 } }).sorted(&rawdoc! { "s": 1 });
    let plan = explained(&world(), query, Verbosity::ExecutionStats);
    let stats = plan.get_document("executionStats").unwrap();
    assert!(stats.get_bool("executionSuccess").unwrap());
    assert_eq!(stats.get_i32("nReturned").unwrap(), 8);
    // 2..=9 have a value of at least 3: [2, 3] one key, the others two.
    assert_eq!(stats.get_i32("totalKeysExamined").unwrap(), 15);
    assert_eq!(stats.get_i32("totalDocsExamined").unwrap(), 8);
    let sort = stats.get_document("executionStages").unwrap();
    assert_eq!(sort.get_str("stage").unwrap(), "SORT");
    let fetch = sort.get_document("inputStage").unwrap();
    assert_eq!(fetch.get_i32("docsExamined").unwrap(), 8);
    let scan = fetch.get_document("inputStage").unwrap();
    assert_eq!(scan.get_i32("keysExamined").unwrap(), 15);
    assert_eq!(scan.get_i32("dupsDropped").unwrap(), 7);
    assert!(!stats.contains_key("allPlansExecution"));
}

#[test]
fn candidates_are_shown_as_they_were_tried() {
    let filter = rawdoc! { "a": { "$gte": 3 }, "b.c": 4 };
    let plan = explained(&world(), query(&filter), Verbosity::AllPlansExecution);
    let planner = plan.get_document("queryPlanner").unwrap();
    assert_eq!(planner.get_array("rejectedPlans").unwrap().len(), 1);
    let stats = plan.get_document("executionStats").unwrap();
    let trials = stats.get_array("allPlansExecution").unwrap();
    assert_eq!(trials.len(), 2);
    let scores: Vec<f64> =
        trials.iter().map(|trial| trial.as_document().unwrap().get_f64("score").unwrap()).collect();
    assert!(scores[0] > scores[1], "{scores:?}");
}

#[test]
fn a_read_by_id() {
    let plan = explained(&world(), query(&rawdoc! { "_id": 3 }), Verbosity::ExecutionStats);
    assert_eq!(
        plan.get_document("executionStats").unwrap().get_document("executionStages").unwrap(),
        &doc! {
            "isCached": false,
            "stage": "EXPRESS_IXSCAN",
            "keyPattern": "{ _id: 1 }",
            "indexName": "_id_",
            "keysExamined": 1,
            "docsExamined": 1,
            "nReturned": 1,
        }
    );
}
