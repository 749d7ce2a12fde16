use crate::Context;
use crate::aggregate::Pipeline;
use crate::aggregate::stages::testing::{refused, stages};
use crate::aggregate::stages::{Target, WhenMatched, WhenNotMatched};
use bson::{Document, doc};

fn code(pipeline: Vec<Document>) -> i32 {
    Pipeline::parse(&stages(pipeline), &Context::new()).unwrap_err().code().number()
}

#[test]
fn of_pipelines() {
    refused(vec![
        (doc! {}, 40323),
        (doc! {"$limit": 1, "$skip": 1}, 40323),
        (doc! {"$foo": 1}, 40324),
        (doc! {"limit": 1}, 40324),
        (doc! {"$geoNear": {}}, 115),
        (doc! {"$search": {}}, 31082),
    ]);
    assert_eq!(code(vec![doc! {"$limit": 1}; 1001]), 7749501);
    assert_eq!(code(vec![doc! {"$match": {}}, doc! {"$collStats": {}}]), 40602);
    assert_eq!(code(vec![doc! {"$out": "a"}, doc! {"$limit": 1}]), 40601);
    let mut nested = vec![doc! {"$limit": 1}];
    for _ in 0..30 {
        nested = vec![doc! {"$lookup": {"from": "a", "as": "b", "pipeline": nested}}];
    }
    assert_eq!(code(nested), 232);
}

#[test]
fn of_simple_stages() {
    refused(vec![
        (doc! {"$match": 1}, 15959),
        (doc! {"$project": 1}, 15969),
        (doc! {"$addFields": 1}, 40272),
        (doc! {"$set": {"a": {"$add": [1], "b": 1}}}, 40181),
        (doc! {"$set": {"a": {"b.c": 1}}}, 40183),
        (doc! {"$set": {"a": 1, "a.b": 1}}, 40176),
        (doc! {"$set": {"a": "$$x"}}, 17276),
        (doc! {"$set": {"$a": 1}}, 16410),
        (doc! {"$unset": 1}, 31002),
        (doc! {"$unset": []}, 31119),
        (doc! {"$unset": [1]}, 31120),
        (doc! {"$unset": ["a", "a.b"]}, 31249),
        (doc! {"$replaceRoot": 1}, 40229),
        (doc! {"$replaceRoot": {"x": 1}}, 40415),
        (doc! {"$replaceRoot": {}}, 40414),
        (doc! {"$unwind": 1}, 15981),
        (doc! {"$unwind": {"path": 1}}, 28808),
        (doc! {"$unwind": {"path": "$a", "preserveNullAndEmptyArrays": 1}}, 28809),
        (doc! {"$unwind": {"path": "$a", "includeArrayIndex": ""}}, 28810),
        (doc! {"$unwind": {"path": "$a", "x": 1}}, 28811),
        (doc! {"$unwind": {}}, 28812),
        (doc! {"$unwind": "a"}, 28818),
        (doc! {"$unwind": {"path": "$a", "includeArrayIndex": "$b"}}, 28822),
        (doc! {"$limit": "x"}, 5107201),
        (doc! {"$limit": -1}, 5107201),
        (doc! {"$limit": 0}, 15958),
        (doc! {"$skip": -1}, 5107200),
        (doc! {"$skip": 1.5}, 5107200),
        (doc! {"$count": 1}, 40156),
        (doc! {"$count": ""}, 40157),
        (doc! {"$count": "$a"}, 40158),
        (doc! {"$count": "a.b"}, 40160),
        (doc! {"$sort": 1}, 15973),
        (doc! {"$sort": {"a": "x"}}, 15974),
        (doc! {"$sort": {"a": 2}}, 15975),
        (doc! {"$sort": {}}, 15976),
        (doc! {"$sort": {"a": {"x": 1}}}, 17312),
        (doc! {"$sample": 1}, 28745),
        (doc! {"$sample": {"size": "x"}}, 28746),
        (doc! {"$sample": {"size": -1}}, 28747),
        (doc! {"$sample": {"x": 1}}, 28748),
        (doc! {"$sample": {}}, 28749),
        (doc! {"$documents": 1}, 5858203),
        (doc! {"$documents": [1]}, 40228),
        (doc! {"$indexStats": 1}, 28803),
        (doc! {"$collStats": 1}, 40166),
        (doc! {"$collStats": {"x": {}}}, 40415),
        (doc! {"$currentOp": {"x": 1}}, 40415),
    ]);
}

#[test]
fn of_grouping() {
    refused(vec![
        (doc! {"$group": 1}, 15947),
        (doc! {"$group": {}}, 15955),
        (doc! {"$group": {"_id": null, "a": 1}}, 40234),
        (doc! {"$group": {"_id": null, "a": {"$sum": 1, "$avg": 1}}}, 40238),
        (doc! {"$group": {"_id": null, "a": {"$foo": 1}}}, 15952),
        (doc! {"$group": {"_id": null, "a.b": {"$sum": 1}}}, 40235),
        (doc! {"$group": {"_id": null, "$a": {"$sum": 1}}}, 40236),
        (doc! {"$group": {"_id": null, "a": {"$sum": [1, 2]}}}, 40237),
        (doc! {"$group": {"_id": null, "a": {"$count": 1}}}, 14),
        (doc! {"$group": {"_id": null, "a": {"$accumulator": {}}}}, 115),
        (doc! {"$group": {"_id": null, "a": {"$firstN": 1}}}, 5787801),
        (doc! {"$group": {"_id": null, "a": {"$minN": 1}}}, 5787900),
        (doc! {"$group": {"_id": null, "a": {"$top": 1}}}, 5788001),
        (
            doc! {"$group": {"_id": null, "a": {"$top": {"output": 1, "sortBy": {"a": 1}, "x": 1}}}},
            5788002,
        ),
        (
            doc! {"$group": {"_id": null, "a": {"$topN": {"output": 1, "sortBy": {"a": 1}}}}},
            5788003,
        ),
        (doc! {"$group": {"_id": null, "a": {"$top": {"sortBy": {"a": 1}}}}}, 5788004),
        (doc! {"$group": {"_id": null, "a": {"$top": {"output": 1}}}}, 5788005),
        (doc! {"$group": {"_id": {"$add": ["x"]}}}, 14),
        (doc! {"$sortByCount": "a"}, 40148),
        (doc! {"$sortByCount": {"a": 1}}, 40147),
        (doc! {"$sortByCount": 1}, 40149),
        (doc! {"$bucket": 1}, 40201),
        (doc! {"$bucket": {"groupBy": "a"}}, 40202),
        (doc! {"$bucket": {"groupBy": "$a", "boundaries": 1}}, 40200),
        (doc! {"$bucket": {"groupBy": "$a", "boundaries": ["$b", 1]}}, 40191),
        (doc! {"$bucket": {"groupBy": "$a", "boundaries": [1]}}, 40192),
        (doc! {"$bucket": {"groupBy": "$a", "boundaries": [1, "x"]}}, 40193),
        (doc! {"$bucket": {"groupBy": "$a", "boundaries": [2, 1]}}, 40194),
        (doc! {"$bucket": {"groupBy": "$a", "boundaries": [1, 2], "default": "$b"}}, 40195),
        (doc! {"$bucket": {"groupBy": "$a", "boundaries": [1, 2], "output": 1}}, 40196),
        (doc! {"$bucket": {"x": 1}}, 40197),
        (doc! {"$bucket": {"groupBy": "$a"}}, 40198),
        (doc! {"$bucket": {"groupBy": "$a", "boundaries": [1, 5], "default": 3}}, 40199),
        (doc! {"$bucketAuto": 1}, 40240),
        (doc! {"$bucketAuto": {"groupBy": "a"}}, 40239),
        (doc! {"$bucketAuto": {"groupBy": "$a", "buckets": "x"}}, 40241),
        (doc! {"$bucketAuto": {"groupBy": "$a", "buckets": 1.5}}, 40242),
        (doc! {"$bucketAuto": {"groupBy": "$a", "buckets": 0}}, 40243),
        (doc! {"$bucketAuto": {"groupBy": "$a"}}, 40246),
        (doc! {"$bucketAuto": {"groupBy": "$a", "buckets": 1, "granularity": "x"}}, 40257),
    ]);
}

#[test]
fn of_joins() {
    refused(vec![
        (doc! {"$facet": {}}, 40169),
        (doc! {"$facet": {"a": 1}}, 40170),
        (doc! {"$facet": {"a": [{"$out": "b"}]}}, 40600),
        (doc! {"$facet": {"a": [{"$facet": {"b": []}}]}}, 40600),
        (doc! {"$facet": {"a.b": []}}, 16412),
        (doc! {"$lookup": 1}, 9),
        (doc! {"$lookup": {"from": "a", "localField": "b", "foreignField": "c"}}, 40414),
        (doc! {"$lookup": {"from": "a", "as": "b"}}, 9),
        (doc! {"$lookup": {"from": "a", "as": "b", "localField": "x"}}, 9),
        (doc! {"$lookup": {"from": 1, "as": "b", "pipeline": []}}, 9),
        (doc! {"$lookup": {"as": "b", "pipeline": []}}, 9),
        (doc! {"$lookup": {"from": "a", "as": "b", "pipeline": 1}}, 14),
        (doc! {"$lookup": {"from": "a", "as": "b", "pipeline": [], "x": 1}}, 40415),
        (doc! {"$lookup": {"from": "a", "as": "b", "pipeline": [{"$out": "c"}]}}, 51047),
        (doc! {"$lookup": {"from": "a", "as": "b", "let": {"X": 1}, "pipeline": []}}, 9),
        (
            doc! {"$lookup": {"from": "a", "as": "b", "let": {"x": 1}, "pipeline": [{"$set": {"c": "$$y"}}]}},
            17276,
        ),
        (doc! {"$lookup": {"from": "a", "as": "$b", "pipeline": []}}, 16410),
        (doc! {"$graphLookup": 1}, 9),
        (doc! {"$graphLookup": {"from": "a", "x": 1}}, 40104),
        (doc! {"$graphLookup": {}}, 9),
        (doc! {"$graphLookup": {"from": "a"}}, 40105),
        (doc! {"$graphLookup": {"from": "a", "as": 1}}, 40103),
        (doc! {"$graphLookup": {"from": "a", "maxDepth": "x"}}, 40100),
        (doc! {"$graphLookup": {"from": "a", "maxDepth": -1}}, 40101),
        (doc! {"$graphLookup": {"from": "a", "maxDepth": 1.5}}, 40102),
        (doc! {"$graphLookup": {"from": "a", "restrictSearchWithMatch": 1}}, 40185),
        (doc! {"$unionWith": 1}, 9),
        (doc! {"$unionWith": {"coll": 1}}, 14),
        (doc! {"$unionWith": {"coll": "a", "x": 1}}, 40415),
        (doc! {"$unionWith": {"coll": "a", "pipeline": [{"$out": "b"}]}}, 31441),
    ]);
}

#[test]
fn of_targets() {
    refused(vec![
        (doc! {"$out": 1}, 16990),
        (doc! {"$out": {"coll": "a"}}, 40414),
        (doc! {"$out": {"db": "a", "coll": "b", "x": 1}}, 40415),
        (doc! {"$out": "system.users"}, 17385),
        (doc! {"$out": {"db": "admin", "coll": "a"}}, 31321),
        (doc! {"$merge": 1}, 14),
        (doc! {"$merge": {}}, 40414),
        (doc! {"$merge": {"into": 1}}, 51178),
        (doc! {"$merge": {"into": ""}}, 5786800),
        (doc! {"$merge": {"into": "a", "x": 1}}, 40415),
        (doc! {"$merge": {"into": "a", "on": 1}}, 51186),
        (doc! {"$merge": {"into": "a", "on": []}}, 51187),
        (doc! {"$merge": {"into": "a", "on": [1]}}, 51134),
        (doc! {"$merge": {"into": "a", "on": ["b", "b"]}}, 31465),
        (doc! {"$merge": {"into": "a", "whenMatched": "x"}}, 2),
        (doc! {"$merge": {"into": "a", "whenMatched": 1}}, 51191),
        (doc! {"$merge": {"into": "a", "whenNotMatched": "x"}}, 2),
        (doc! {"$merge": {"into": "a", "whenMatched": "fail", "whenNotMatched": "discard"}}, 51181),
        (doc! {"$merge": {"into": "a", "let": {"x": 1}}}, 51199),
        (doc! {"$merge": {"into": "a", "whenMatched": [], "let": {"new": 1}}}, 51273),
        (doc! {"$merge": {"into": "a", "whenMatched": [{"$limit": 1}]}}, 72),
        (doc! {"$merge": {"into": "a", "whenMatched": [{"$set": {"x": "$$y"}}]}}, 17276),
    ]);
}

#[test]
fn targets_say_what_to_write() {
    let target = |stage| {
        let pipeline = Pipeline::parse(&stages(vec![stage]), &Context::new()).unwrap();
        pipeline.target().cloned()
    };
    assert_eq!(
        target(doc! {"$out": "a"}),
        Some(Target::Out { database: None, collection: "a".into(), timeseries: None })
    );
    assert_eq!(
        target(
            doc! {"$merge": {"into": {"db": "d", "coll": "c"}, "on": "k", "whenMatched": "replace", "whenNotMatched": "discard"}}
        ),
        Some(Target::Merge {
            database: Some("d".into()),
            collection: "c".into(),
            on: vec!["k".into()],
            on_given: true,
            when_matched: WhenMatched::Replace,
            when_not_matched: WhenNotMatched::Discard,
        })
    );
    let piped = target(doc! {"$merge": {"into": "c", "whenMatched": [{"$set": {"x": "$$new.x"}}]}});
    let Some(Target::Merge { when_matched: WhenMatched::Pipeline { variables, .. }, on, .. }) =
        piped
    else {
        panic!("not a pipeline");
    };
    assert_eq!(variables.get_str("new").unwrap(), "$$ROOT");
    assert_eq!(on, ["_id"]);
}
