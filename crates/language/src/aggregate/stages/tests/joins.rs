use crate::Context;
use crate::aggregate::Pipeline;
use crate::aggregate::stages::testing::{World, run_in, stages};
use bson::{Document, doc};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn world() -> Arc<World> {
    Arc::new(World {
        collections: vec![
            (
                "items",
                vec![
                    doc! {"_id": 1, "sku": "a", "n": 5},
                    doc! {"_id": 2, "sku": "b", "n": 1},
                    doc! {"_id": 3, "n": 2},
                    doc! {"_id": 4, "sku": ["a", "c"], "n": 9},
                ],
            ),
            (
                "staff",
                vec![
                    doc! {"_id": 1, "name": "a"},
                    doc! {"_id": 2, "name": "b", "boss": "a"},
                    doc! {"_id": 3, "name": "c", "boss": "b"},
                    doc! {"_id": 4, "name": "d", "boss": ["c", "a"]},
                ],
            ),
        ],
        ..World::default()
    })
}

#[track_caller]
fn joined(pipeline: Vec<Document>, input: Vec<Document>, expected: Vec<Document>) {
    assert_eq!(run_in(pipeline, input, world()).unwrap(), expected);
}

#[test]
fn lookup_by_equality() {
    let lookup = doc! {"$lookup": {"from": "items", "localField": "sku", "foreignField": "sku", "as": "found"}};
    let ids = doc! {"$project": {"_id": 0, "ids": "$found._id"}};
    joined(
        vec![lookup, ids],
        vec![
            doc! {"sku": "a"},
            doc! {"sku": ["b", "c"]},
            doc! {},
            doc! {"sku": null},
            doc! {"sku": "z"},
        ],
        vec![
            doc! {"ids": [1, 4]},
            doc! {"ids": [2, 4]},
            doc! {"ids": [3]},
            doc! {"ids": [3]},
            doc! {"ids": []},
        ],
    );
    joined(
        vec![
            doc! {"$lookup": {"from": "items", "localField": "x.y", "foreignField": "_id", "as": "a.b", "pipeline": [{"$project": {"n": 1}}]}},
        ],
        vec![doc! {"x": [{"y": 1}, {"y": 3}], "a": {"c": 1}}],
        vec![
            doc! {"x": [{"y": 1}, {"y": 3}], "a": {"c": 1, "b": [{"_id": 1, "n": 5}, {"_id": 3, "n": 2}]}},
        ],
    );
}

#[test]
fn lookup_with_variables() {
    joined(
        vec![
            doc! {"$lookup": {"from": "items", "let": {"least": "$min"}, "as": "found", "pipeline": [
                {"$match": {"$expr": {"$gte": ["$n", "$$least"]}}}, {"$project": {"n": 1, "over": {"$subtract": ["$n", "$$least"]}}},
            ]}},
        ],
        vec![doc! {"min": 5}, doc! {"min": 100}],
        vec![
            doc! {"min": 5, "found": [{"_id": 1, "n": 5, "over": 0}, {"_id": 4, "n": 9, "over": 4}]},
            doc! {"min": 100, "found": []},
        ],
    );
    joined(
        vec![
            doc! {"$lookup": {"as": "d", "let": {"x": "$x"}, "pipeline": [{"$documents": [{"a": 1}]}, {"$addFields": {"x": "$$x"}}]}},
        ],
        vec![doc! {"x": 7}],
        vec![doc! {"x": 7, "d": [{"a": 1, "x": 7}]}],
    );
    let uncorrelated = vec![
        doc! {"$lookup": {"from": "items", "as": "all", "pipeline": [{"$count": "n"}]}},
        doc! {"$unwind": "$all"},
    ];
    joined(
        uncorrelated,
        vec![doc! {"_id": 1}, doc! {"_id": 2}],
        vec![doc! {"_id": 1, "all": {"n": 4}}, doc! {"_id": 2, "all": {"n": 4}}],
    );
}

#[test]
fn graph_lookup() {
    joined(
        vec![
            doc! {"$graphLookup": {"from": "staff", "startWith": "$boss", "connectFromField": "boss", "connectToField": "name", "as": "bosses", "depthField": "depth"}},
        ],
        vec![doc! {"boss": "c"}, doc! {}],
        vec![
            doc! {"boss": "c", "bosses": [
                {"_id": 3, "name": "c", "boss": "b", "depth": 0i64},
                {"_id": 2, "name": "b", "boss": "a", "depth": 1i64},
                {"_id": 1, "name": "a", "depth": 2i64},
            ]},
            doc! {"bosses": []},
        ],
    );
    joined(
        vec![
            doc! {"$graphLookup": {"from": "staff", "startWith": "$boss", "connectFromField": "boss", "connectToField": "name", "as": "b", "maxDepth": 1, "restrictSearchWithMatch": {"_id": {"$ne": 2}}}},
        ],
        vec![doc! {"boss": ["c", "a"]}],
        vec![
            doc! {"boss": ["c", "a"], "b": [{"_id": 1, "name": "a"}, {"_id": 3, "name": "c", "boss": "b"}]},
        ],
    );
}

#[test]
fn union() {
    joined(
        vec![
            doc! {"$unionWith": {"coll": "items", "pipeline": [{"$match": {"n": {"$lt": 3}}}, {"$project": {"n": 1}}]}},
        ],
        vec![doc! {"_id": 0}],
        vec![doc! {"_id": 0}, doc! {"_id": 2, "n": 1}, doc! {"_id": 3, "n": 2}],
    );
    joined(
        vec![doc! {"$unionWith": {"pipeline": [{"$documents": [{"a": 1}]}]}}],
        vec![],
        vec![doc! {"a": 1}],
    );
    let count = vec![doc! {"$unionWith": "staff"}, doc! {"$count": "n"}];
    joined(count, vec![], vec![doc! {"n": 4}]);
}

#[test]
fn a_pipeline_tells_which_collections_it_reads() {
    let pipeline = Pipeline::parse(
        &stages(vec![
            doc! {"$lookup": {"from": "a", "as": "x", "pipeline": [{"$unionWith": "b"}]}},
            doc! {"$facet": {"f": [{"$lookup": {"from": "c", "localField": "x", "foreignField": "y", "as": "z"}}]}},
        ]),
        &Context::new(),
    )
    .unwrap();
    assert_eq!(pipeline.foreign_collections(), ["a", "b", "c"]);
}

/// How many times a `$lookup` reads the other collection for three documents.
fn reads(lookup: Document) -> usize {
    reads_for(lookup, vec![doc! {"n": 1}, doc! {"n": 2}, doc! {"n": 3}])
}

fn reads_for(lookup: Document, input: Vec<Document>) -> usize {
    let world = world();
    let found = run_in(vec![doc! {"$lookup": lookup}], input, world.clone()).unwrap();
    assert!(found.iter().all(|document| !document.get_array("j").unwrap().is_empty()));
    world.reads.load(Ordering::Relaxed)
}

#[test]
fn what_depends_on_no_document_is_read_once() {
    let uses = doc! {"$addFields": {"n": "$$n"}};
    let random = doc! {"$addFields": {"r": {"$rand": {}}}};
    let with = |stages: Vec<Document>| doc! {"from": "items", "let": {"n": "$n"}, "pipeline": stages, "as": "j"};
    assert_eq!(reads(with(vec![])), 1);
    assert_eq!(reads(with(vec![doc! {"$sort": {"n": 1}}])), 1);
    assert_eq!(reads(with(vec![doc! {"$sort": {"n": 1}}, uses.clone()])), 1);
    assert_eq!(reads(with(vec![uses.clone(), doc! {"$sort": {"n": 1}}])), 3);
    assert_eq!(reads(with(vec![doc! {"$limit": 1}, random])), 1);
    assert_eq!(reads(with(vec![doc! {"$sample": {"size": 1}}])), 3);
    // A filter goes before other stages, where it may use an index.
    let filter = doc! {"$match": {"$expr": {"$gte": ["$n", "$$n"]}}};
    assert_eq!(reads(with(vec![doc! {"$project": {"n": 1}}, filter])), 3);
    let equal =
        doc! {"from": "items", "localField": "n", "foreignField": "_id", "pipeline": [], "as": "j"};
    assert_eq!(reads(equal), 3);
}

#[test]
fn equal_values_are_read_once() {
    let input = || vec![doc! {"n": 1, "m": 1}, doc! {"n": 2, "m": 2}, doc! {"n": 1, "m": 3}];
    let with = |stages: Vec<Document>| {
        doc! {"from": "items", "localField": "n", "foreignField": "_id", "let": {"m": "$m"}, "pipeline": stages, "as": "j"}
    };
    assert_eq!(reads_for(with(vec![]), input()), 2);
    assert_eq!(reads_for(with(vec![doc! {"$limit": 1}]), input()), 2);
    assert_eq!(reads_for(with(vec![doc! {"$addFields": {"m": "$$m"}}]), input()), 3);
    assert_eq!(reads_for(with(vec![doc! {"$addFields": {"r": {"$rand": {}}}}]), input()), 3);
}

#[test]
fn the_same_start_is_searched_once() {
    let node = |at: i32| doc! {"_id": at, "next": (at + 1) % 3};
    let ring =
        World { collections: vec![("ring", (0..3).map(node).collect())], ..World::default() };
    let ring = Arc::new(ring);
    let search = doc! {"$graphLookup": {"from": "ring", "startWith": "$n", "connectFromField": "next", "connectToField": "_id", "as": "found"}};
    let size = doc! {"$project": {"size": {"$size": "$found"}}};
    let input = vec![doc! {"n": 0}, doc! {"n": 0.0}, doc! {"n": [0]}, doc! {}, doc! {"n": 0}];
    let found = run_in(vec![search, size], input, ring.clone()).unwrap();
    let sizes: Vec<_> = found.iter().map(|found| found.get_i32("size").unwrap()).collect();
    assert_eq!(sizes, [3, 3, 3, 0, 3]);
    // Once from a number and once from an array, a read a step.
    assert_eq!(ring.reads.load(Ordering::Relaxed), 6);
}

#[test]
fn a_search_of_a_graph_has_a_limit() {
    let text = "x".repeat(9 * 1024 * 1024);
    let next = |at: i32| doc! {"_id": at, "next": at + 1, "text": &text};
    let chain =
        World { collections: vec![("chain", (0..13).map(next).collect())], ..World::default() };
    let search = doc! {"$graphLookup": {"from": "chain", "startWith": 0, "connectFromField": "next", "connectToField": "_id", "as": "found", "maxDepth": 20}};
    let error = run_in(vec![search], vec![doc! {}], Arc::new(chain)).unwrap_err();
    assert_eq!(error.code().number(), 40099);
}

#[test]
fn joined_documents_have_a_limit() {
    let text = "x".repeat(9 * 1024 * 1024);
    let large = |at: i32| doc! {"_id": at, "text": &text};
    let world =
        World { collections: vec![("large", (0..6).map(large).collect())], ..World::default() };
    let lookup = |to: &str| doc! {"$lookup": {"from": "large", "pipeline": [], "as": to}};
    let error = run_in(vec![lookup("a"), lookup("b")], vec![doc! {}], Arc::new(world)).unwrap_err();
    assert_eq!(error.code().number(), 4568);
}
