use crate::Context;
use crate::aggregate::stages::testing::{World, check, run, run_in, stages, stream};
use crate::aggregate::stages::{Limit, Match, Skip, Sort};
use crate::aggregate::{Nowhere, Pipeline};
use crate::sort::Pattern;
use crate::{Needs, aggregate::Stage};
use bson::{Document, doc};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use value::Path;

fn numbered(values: &[i32]) -> Vec<Document> {
    values.iter().map(|a| doc! {"a": *a}).collect()
}

#[test]
fn sorting() {
    check(
        vec![doc! {"$sort": {"a": -1, "b": 1}}],
        vec![
            doc! {"a": 1, "b": 2},
            doc! {"a": [0, 5], "b": 9},
            doc! {"a": 1, "b": 1},
            doc! {"b": 0},
            doc! {"a": []},
        ],
        vec![
            doc! {"a": [0, 5], "b": 9},
            doc! {"a": 1, "b": 1},
            doc! {"a": 1, "b": 2},
            doc! {"b": 0},
            doc! {"a": []},
        ],
    );
    check(
        vec![doc! {"$sort": {"a.b": 1}}],
        vec![doc! {"a": [{"b": 3}, {"b": 2}]}, doc! {"a": {"b": 1}}],
        vec![doc! {"a": {"b": 1}}, doc! {"a": [{"b": 3}, {"b": 2}]}],
    );
    let parallel = run(vec![doc! {"$sort": {"a": 1, "b": 1}}], vec![doc! {"a": [1], "b": [2]}]);
    assert_eq!(parallel.unwrap_err().code().number(), 2);
}

#[test]
fn a_limit_keeps_only_the_top() {
    let pipeline = Pipeline::parse(
        &stages(vec![doc! {"$sort": {"a": 1}}, doc! {"$skip": 1}, doc! {"$limit": 2}]),
        &Context::new(),
    )
    .unwrap();
    assert_eq!(pipeline.front::<Sort>().unwrap().limit, Some(3));
    check(
        vec![doc! {"$sort": {"a": 1}}, doc! {"$skip": 1}, doc! {"$limit": 2}],
        numbered(&[5, 3, 4, 1, 2]),
        numbered(&[2, 3]),
    );
}

#[test]
fn sorts_spill_and_merge() {
    let documents: Vec<Document> =
        (0..1000).map(|i| doc! {"a": (i * 7919) % 1000, "pad": "x".repeat(50)}).collect();
    let mut sort = Sort::new(Pattern::ascending(Path::new("a")), None);
    sort.memory_bytes_max = 10_000;
    let world = Arc::new(World::default());
    let sorted = Arc::new(sort).run(stream(documents), &(world.clone() as _)).unwrap();
    let values: Vec<i32> = sorted.map(|document| document.unwrap().get_i32("a").unwrap()).collect();
    assert_eq!(values, (0..1000).collect::<Vec<_>>());
    assert!(world.spills.load(Ordering::Relaxed) > 5);

    let mut sort = Sort::new(Pattern::ascending(Path::new("a")), None);
    sort.memory_bytes_max = 100;
    let refused = Arc::new(sort).run(stream(numbered(&[3, 2, 1])), &(Arc::new(Nowhere) as _));
    assert_eq!(refused.err().unwrap().code().number(), 292);
}

#[test]
fn stages_are_joined_and_filters_go_first() {
    let parse = |pipeline| Pipeline::parse(&stages(pipeline), &Context::new()).unwrap();
    let names = |pipeline: &Pipeline| pipeline.stages().map(Stage::name).collect::<Vec<_>>();

    let mut joined = parse(vec![
        doc! {"$match": {"a": 1}},
        doc! {"$sort": {"a": 1}},
        doc! {"$addFields": {"c": "$a"}},
        doc! {"$match": {"b": 1}},
        doc! {"$limit": 5},
        doc! {"$limit": 3},
        doc! {"$skip": 1},
        doc! {"$skip": 2},
    ]);
    assert_eq!(names(&joined), ["$match", "$sort", "$addFields", "$limit", "$skip"]);
    assert!(joined.take_front(|_: &Match| ()).is_some());
    assert!(joined.take_front(|_: &Limit| ()).is_none());
    joined.take_front(|_: &Sort| ()).unwrap();
    let stages: Vec<_> = joined.stages().collect();
    let stage: &dyn std::any::Any = stages[2];
    assert_eq!(stage.downcast_ref::<Skip>(), Some(&Skip(3)));

    let kept = parse(vec![doc! {"$addFields": {"b": "$a"}}, doc! {"$match": {"b.c": 1}}]);
    assert_eq!(names(&kept), ["$addFields", "$match"]);
    let kept = parse(vec![doc! {"$limit": 1}, doc! {"$match": {"b": 1}}]);
    assert_eq!(names(&kept), ["$limit", "$match"]);
    let moved = parse(vec![doc! {"$unwind": "$a"}, doc! {"$match": {"b": 1}}]);
    assert_eq!(names(&moved), ["$match", "$unwind"]);
}

#[test]
fn filters_go_before_projections_as_far_as_they_can() {
    let names_of = |pipeline| -> Vec<&'static str> {
        let pipeline = Pipeline::parse(&stages(pipeline), &Context::new()).unwrap();
        pipeline.stages().map(Stage::name).collect()
    };
    let filter = || doc! {"$match": {"a.b": 1}};
    for (stage, moves) in [
        (doc! {"$project": {"a": 1}}, true),
        (doc! {"$project": {"x": 0}}, true),
        (doc! {"$project": {"a.b": 1}}, false),
        (doc! {"$project": {"b": 1}}, false),
        (doc! {"$project": {"a": "$b"}}, true),
        (doc! {"$project": {"a": "$b.c"}}, false),
        (doc! {"$project": {"a": {"$literal": 1}}}, false),
        (doc! {"$project": {"a.c": 0}}, true),
        (doc! {"$project": {"a.b.c": 0}}, false),
        (doc! {"$unset": "b"}, true),
        (doc! {"$replaceWith": "$x"}, false),
    ] {
        let first = names_of(vec![stage.clone(), filter()])[0];
        assert_eq!(first == "$match", moves, "{stage}");
    }
    let split = names_of(vec![
        doc! {"$sort": {"z": 1}},
        doc! {"$addFields": {"c": "$a"}},
        doc! {"$match": {"a": 1, "c": 2, "d": 3}},
        doc! {"$limit": 1},
    ]);
    assert_eq!(split, ["$match", "$sort", "$addFields", "$match", "$limit"]);
}

#[test]
fn needs_end_where_the_document_does() {
    let needs = |pipeline| Pipeline::parse(&stages(pipeline), &Context::new()).unwrap().needs();
    let grouped = needs(vec![
        doc! {"$match": {"a": 1}},
        doc! {"$group": {"_id": "$b.c", "s": {"$sum": "$d"}}},
        doc! {"$match": {"s": 1}},
    ]);
    let mut expected = Needs::none();
    for path in ["a", "b.c", "d"] {
        expected.add(&Path::new(path));
    }
    assert_eq!(grouped, expected);
    assert_eq!(needs(vec![doc! {"$match": {"a": 1}}]), Needs::All);
    assert_eq!(needs(vec![doc! {"$count": "n"}]), Needs::none());
}

#[test]
fn counts() {
    check(vec![doc! {"$count": "n"}], numbered(&[1, 2]), vec![doc! {"n": 2}]);
    check(vec![doc! {"$count": "n"}], vec![], vec![]);
    let world = Arc::new(World::default());
    let limited = run_in(vec![doc! {"$limit": 2}], numbered(&[1, 2, 3]), world);
    assert_eq!(limited.unwrap(), numbered(&[1, 2]));
}

/// What stands at an array's ends, and whether it is there, changes with what is below it.
#[test]
fn filters_by_parts_of_an_array_stay_behind_what_changes_them() {
    let document = doc! {"a": [{"y": 1}], "b": 5};
    let first =
        |element: Document| doc! {"$match": {"$expr": {"$eq": [{"$first": "$a"}, element]}}};
    for (stages, found) in [
        (vec![doc! {"$set": {"c.x": 1}}, doc! {"$match": {"c": {"$exists": true}}}], true),
        (vec![doc! {"$set": {"c.x": 1}}, doc! {"$match": {"c": {"$exists": false}}}], false),
        (vec![doc! {"$set": {"a.x": 5}}, first(doc! {"y": 1, "x": 5})], true),
        (vec![doc! {"$set": {"a.x": 5}}, first(doc! {"y": 1})], false),
        (vec![doc! {"$unset": "a.y"}, first(doc! {})], true),
        (vec![doc! {"$project": {"a.y": 0}}, first(doc! {})], true),
        (vec![doc! {"$set": {"a.0": 5}}, first(doc! {"y": 1, "0": 5})], true),
        (
            vec![
                doc! {"$unwind": {"path": "$a", "includeArrayIndex": "d.i"}},
                doc! {"$match": {"d": {"$exists": true}}},
            ],
            true,
        ),
    ] {
        let mut count = stages.clone();
        count.push(doc! {"$count": "n"});
        let expected = if found { vec![doc! {"n": 1}] } else { Vec::new() };
        check(count, vec![document.clone()], expected);
    }
}
