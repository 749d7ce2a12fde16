//! What comes out, and how much was read for it.

use super::world::{World, query};
use crate::plan::{Hint, Interrupt, Purpose, Query, open};
use bson::{RawDocumentBuf, rawdoc};
use error::Code;
use std::sync::Arc;

fn numbers(count: i32) -> Vec<RawDocumentBuf> {
    (0..count).map(|n| rawdoc! { "_id": n, "a": n % 10, "b": n }).collect()
}

fn ids(documents: &[RawDocumentBuf]) -> Vec<i32> {
    documents.iter().map(|document| document.get_i32("_id").expect("an id")).collect()
}

#[test]
fn a_read_by_id_takes_two_point_reads() {
    let world = World::new(&[], numbers(20));
    let mut execution = world.open(query(&rawdoc! { "_id": 7.0 })).unwrap();
    assert!(execution.is_light());
    let row = execution.next().unwrap().unwrap();
    assert_eq!(row.document.get_i32("b").unwrap(), 7);
    assert!(execution.next().is_none());
    let stats = execution.stats();
    assert_eq!((stats.keys_examined(), stats.documents_examined()), (1, 1));
    assert!(world.run(query(&rawdoc! { "_id": 99 })).unwrap().is_empty());
}

#[test]
fn a_list_and_a_range_skip_what_lies_between() {
    let world = World::new(&[rawdoc! { "key": { "a": 1, "b": 1 } }], numbers(1000));
    let filter = rawdoc! { "a": { "$in": [2, 5] }, "b": { "$gte": 950 } };
    let mut execution = world.open(query(&filter)).unwrap();
    let found: Vec<_> = execution.by_ref().map(|row| row.unwrap().document.into()).collect();
    assert_eq!(ids(&found), [952, 962, 972, 982, 992, 955, 965, 975, 985, 995]);
    assert_eq!(execution.stats().keys_examined(), 10);

    // A range before a condition: the scan seeks from value to value.
    let filter = rawdoc! { "a": { "$gte": 7 }, "b": { "$lt": 10 } };
    let mut execution = world.open(query(&filter)).unwrap();
    let found: Vec<_> = execution.by_ref().map(|row| row.unwrap().document.into()).collect();
    assert_eq!(ids(&found), [7, 8, 9]);
    assert!(execution.stats().keys_examined() < 20, "{}", execution.stats().keys_examined());
}

#[test]
fn sorts_keep_ties_in_order_and_mind_limits() {
    let world = World::new(&[], numbers(30));
    let sorted = |query: Query| ids(&world.run(query).unwrap());
    let by_a = sorted(query(&rawdoc! {}).sorted(&rawdoc! { "a": -1 }).limited(4));
    assert_eq!(by_a, [9, 19, 29, 8]);
    let skipped = sorted(query(&rawdoc! {}).sorted(&rawdoc! { "a": 1 }).skipping(2).limited(2));
    assert_eq!(skipped, [20, 1]);
    let natural = sorted(query(&rawdoc! {}).sorted(&rawdoc! { "$natural": -1 }).limited(2));
    assert_eq!(natural, [29, 28]);
}

#[test]
fn a_sort_has_a_memory_limit() {
    let world = World::new(&[], numbers(100));
    let mut small = query(&rawdoc! {}).sorted(&rawdoc! { "b": -1 });
    small.sort_bytes_max = 1000;
    let error = world.run(small).unwrap_err();
    assert_eq!(error.code(), Code::QueryExceededMemoryLimitNoDiskUseAllowed);
    let mut top = query(&rawdoc! {}).sorted(&rawdoc! { "b": -1 }).limited(2);
    top.sort_bytes_max = 1000;
    assert_eq!(ids(&world.run(top).unwrap()), [99, 98]);
}

#[test]
fn a_sort_goes_to_files_where_it_may() {
    let world = World::new(&[], numbers(300));
    let sorted = |small: bool| {
        let mut query = query(&rawdoc! {}).sorted(&rawdoc! { "a": -1, "b": 1 });
        query.allow_disk_use = true;
        if small {
            query.sort_bytes_max = 1000;
        }
        ids(&world.run(query).unwrap())
    };
    assert_eq!(sorted(true), sorted(false));
    let mut ties = query(&rawdoc! {}).sorted(&rawdoc! { "nowhere": 1 }).skipping(7).limited(200);
    ties.allow_disk_use = true;
    ties.sort_bytes_max = 1000;
    assert_eq!(ids(&world.run(ties).unwrap()), (7..207).collect::<Vec<_>>());
}

/// An interrupt that has been asked to stop the work.
struct Stopped;

impl language::interrupt::Interrupt for Stopped {
    fn check(&self) -> error::Result<()> {
        Err(Code::Interrupted.error("stopped"))
    }
}

#[test]
fn putting_many_rows_in_order_can_be_interrupted() {
    let sorted = |count| {
        let world = World::new(&[], numbers(count));
        let _entered = language::interrupt::enter(Arc::new(Stopped));
        world.run(query(&rawdoc! {}).sorted(&rawdoc! { "a": -1 })).map(|rows| rows.len())
    };
    assert_eq!(sorted(8).unwrap(), 8, "nothing else asks");
    assert_eq!(sorted(1_000).unwrap_err().code(), Code::Interrupted);
    assert_eq!(sorted(33_000).unwrap_err().code(), Code::Interrupted);
}

#[test]
fn covered_rows_tell_missing_from_null() {
    let documents = vec![
        rawdoc! { "_id": 1, "a": 1, "b": 1.0 },
        rawdoc! { "_id": 2, "a": 1 },
        rawdoc! { "_id": 3, "a": 1, "b": null },
    ];
    let world = World::new(&[rawdoc! { "key": { "a": 1, "b": 1 } }], documents);
    let query = query(&rawdoc! { "a": 1 }).projected(&rawdoc! { "_id": 0, "b": 1 });
    let mut execution = world.open(query).unwrap();
    let found: Vec<RawDocumentBuf> =
        execution.by_ref().map(|row| row.unwrap().document.into()).collect();
    assert_eq!(found, [rawdoc! {}, rawdoc! { "b": null }, rawdoc! { "b": 1.0 }]);
    assert_eq!(execution.stats().documents_examined(), 2);
}

#[test]
fn counts_and_distinct_values() {
    let world = World::new(
        &[rawdoc! { "key": { "a": 1 } }, rawdoc! { "key": { "m": 1 } }],
        vec![
            rawdoc! { "_id": 1, "a": 1, "m": [1, 2, 2] },
            rawdoc! { "_id": 2, "a": 2.0, "m": [] },
            rawdoc! { "_id": 3, "a": 2, "m": 2 },
            rawdoc! { "_id": 4, "a": null, "m": [[7]] },
            rawdoc! { "_id": 5 },
        ],
    );
    let count = |filter: RawDocumentBuf, skip: u64, limit: Option<u64>| {
        let query = Query { purpose: Purpose::Count, skip, limit, ..query(&filter) };
        world.open(query).unwrap().count().unwrap()
    };
    assert_eq!(count(rawdoc! {}, 0, None), 5);
    assert_eq!(count(rawdoc! {}, 1, Some(3)), 3);
    assert_eq!(count(rawdoc! { "a": 2 }, 0, None), 2);
    assert_eq!(count(rawdoc! { "a": null }, 0, None), 2);
    assert_eq!(count(rawdoc! { "m": { "$gte": 1 } }, 0, None), 2);
    assert_eq!(count(rawdoc! { "a": { "$gt": 0 } }, 1, None), 2);
    assert_eq!(count(rawdoc! { "nothing": 1 }, 0, None), 0);

    let distinct = |path: &str| {
        let purpose = Purpose::Distinct(value::Path::new(path));
        world.run(Query { purpose, ..query(&rawdoc! {}) }).unwrap()
    };
    let values = |path: &str| {
        let found = distinct(path);
        found.iter().filter(|row| row.get(path).unwrap().is_some()).count()
    };
    assert_eq!(values("a"), 3);
    // The key of an empty array may stand for an undefined too: the document tells.
    let empty = rawdoc! { "_id": 2, "a": 2.0, "m": [] };
    assert_eq!(
        distinct("m").iter().filter(|row| row.get("m").unwrap().is_some()).collect::<Vec<_>>(),
        [&empty, &rawdoc! { "m": 1 }, &rawdoc! { "m": 2 }, &rawdoc! { "m": [[7]] }]
    );
}

#[test]
fn min_and_max_bound_the_hinted_index() {
    let world = World::new(&[rawdoc! { "key": { "a": 1, "b": -1 } }], numbers(30));
    let range = |min: Option<RawDocumentBuf>, max: Option<RawDocumentBuf>| {
        let hint = Some(Hint::Keys(rawdoc! { "a": 1, "b": -1 }));
        world.run(Query { min, max, hint, ..query(&rawdoc! { "b": { "$ne": 13 } }) })
    };
    let found = range(Some(rawdoc! { "a": 2, "b": 12 }), Some(rawdoc! { "a": 4, "b": 24 }));
    assert_eq!(ids(&found.unwrap()), [12, 2, 23, 3]);
    let wrong = range(Some(rawdoc! { "a": 1 }), None).unwrap_err();
    assert_eq!(wrong.code().number(), 51174);
    let without_hint = Query { min: Some(rawdoc! { "a": 1 }), ..query(&rawdoc! {}) };
    assert_eq!(world.run(without_hint).unwrap_err().code().number(), 51173);
}

#[test]
fn return_key_and_record_id() {
    let world = World::new(&[rawdoc! { "key": { "a": 1 } }], numbers(12));
    let found = world.run(Query { return_key: true, ..query(&rawdoc! { "a": { "$gt": 8 } }) });
    assert_eq!(found.unwrap(), [rawdoc! { "a": 9 }]);
    let scanned = world.run(Query { return_key: true, ..query(&rawdoc! { "b": 3 }) });
    assert_eq!(scanned.unwrap(), [rawdoc! {}]);
    let shown = Query { show_record_id: true, ..query(&rawdoc! { "_id": 3 }) };
    let expected = rawdoc! { "_id": 3, "a": 3, "b": 3, "$recordId": 4_i64 };
    assert_eq!(world.run(shown).unwrap(), [expected]);
}

#[test]
fn the_better_index_wins_the_trial() {
    let documents =
        (0..2000).map(|n| rawdoc! { "_id": n, "common": n % 2, "rare": n / 4 }).collect();
    let indexes = [rawdoc! { "key": { "common": 1 } }, rawdoc! { "key": { "rare": 1 } }];
    let world = World::new(&indexes, documents);
    let mut execution = world.open(query(&rawdoc! { "common": 1, "rare": 77 })).unwrap();
    let found: Vec<_> = execution.by_ref().map(|row| row.unwrap().document.into()).collect();
    assert_eq!(ids(&found), [309, 311]);
    assert_eq!(super::world::summary(&execution.plan().root), "FETCH filter(IXSCAN rare_1)");
    assert_eq!(execution.stats().keys_examined(), 4);
}

#[test]
fn an_interrupt_stops_a_scan() {
    let world = World::new(&[], numbers(1000));
    let interrupt = Interrupt::default();
    let mut rows =
        open(&world.collection, query(&rawdoc! {}), world.view.clone(), interrupt.clone()).unwrap();
    assert!(rows.next().unwrap().is_ok());
    interrupt.stop(Code::Interrupted);
    let failed = rows.find_map(std::result::Result::err).expect("an error");
    assert_eq!(failed.code(), Code::Interrupted);
    assert!(rows.next().is_none());
}

#[test]
fn executions_may_be_kept_in_cursors() {
    fn kept<T: Send + 'static>() {}
    kept::<crate::plan::Execution>();
}

#[test]
fn large_values_are_loaded_only_where_needed() {
    let text = "x".repeat(crate::storage::large::LARGE_VALUE_BYTES + 1);
    let documents = vec![rawdoc! { "_id": 1, "a": 1, "big": text.as_str() }];
    let world = World::new(&[rawdoc! { "key": { "a": 1 } }], documents.clone());
    assert_eq!(world.run(query(&rawdoc! { "a": 1 })).unwrap(), documents);
    assert_eq!(world.run(query(&rawdoc! { "big": text.as_str() })).unwrap(), documents);
    let small = query(&rawdoc! { "a": 1 }).projected(&rawdoc! { "a": 1 });
    assert_eq!(world.run(small).unwrap(), [rawdoc! { "_id": 1, "a": 1 }]);
}
