use super::super::testing::*;
use super::*;
use bson::{doc, rawdoc};

fn parse(request: &Request) -> Result<()> {
    Create::parse(request).map(|_| ())
}

#[test]
fn collections_of_each_kind_are_read() {
    let capped = rawdoc! { "create": "c", "$db": "d", "capped": true, "size": 4096.0, "max": 10 };
    let request = Request::from(capped);
    let create = Create::parse(&request).unwrap();
    assert_eq!((create.capped, create.size, create.max), (true, Some(4096), Some(10)));

    let view = rawdoc! { "create": "v", "$db": "d", "viewOn": "c", "pipeline": [{ "$match": {} }] };
    let request = Request::from(view);
    let create = Create::parse(&request).unwrap();
    assert_eq!(create.view_on, Some("c"));
    assert_eq!(create.pipeline.unwrap().len(), 1);

    let clustered = rawdoc! {
        "create": "c", "$db": "d", "expireAfterSeconds": 5,
        "clusteredIndex": { "key": { "_id": 1 }, "unique": true, "name": "x" },
    };
    let request = Request::from(clustered);
    let create = Create::parse(&request).unwrap();
    assert_eq!(create.clustered_index, Some(ClusteredIndex { name: Some("x") }));
}

#[test]
fn every_argument_has_its_type() {
    let base = doc! { "create": "c", "$db": "d" };
    check_strict(parse, &base);
    check_fields(
        parse,
        &base,
        &[
            ("create", "string symbol", 73),
            ("capped", "bool number null", 14),
            ("size", "number null", 14),
            ("max", "number null", 14),
            ("validator", "object null", 14),
            ("validationLevel", "string null", 14),
            ("validationAction", "string null", 14),
            ("viewOn", "string null", 14),
            ("pipeline", "array null", 14),
            ("collation", "object null", 14),
            ("timeseries", "object null", 14),
            ("clusteredIndex", "bool number object null", 14),
            ("expireAfterSeconds", "number null", 14),
            ("idIndex", "object null", 14),
            ("storageEngine", "object null", 14),
            ("indexOptionDefaults", "object null", 14),
            ("changeStreamPreAndPostImages", "object null", 14),
            ("encryptedFields", "object null", 14),
        ],
    );
}

#[test]
fn arguments_must_agree() {
    let clustered = doc! { "key": { "_id": 1 }, "unique": true };
    let series = doc! { "timeField": "t" };
    check_codes(
        parse,
        &doc! { "create": "c", "$db": "d" },
        &[
            (doc! { "create": "system.x" }, 73),
            (doc! { "create": "a$b" }, 73),
            (doc! { "capped": true }, 72),
            (doc! { "size": 4096 }, 72),
            (doc! { "max": 1 }, 72),
            (doc! { "capped": true, "size": 0 }, 2),
            (doc! { "capped": true, "size": 1_i64 << 51 }, 2),
            (doc! { "capped": true, "size": 1, "max": 1_i64 << 31 }, 2),
            (doc! { "validationLevel": "x" }, 2),
            (doc! { "validationAction": "x" }, 2),
            (doc! { "validationAction": "errorAndLog" }, 0),
            (doc! { "viewOn": "" }, 2),
            (doc! { "pipeline": [] }, 72),
            (doc! { "pipeline": [1] }, 14),
            (doc! { "viewOn": "x", "capped": true }, 72),
            (doc! { "viewOn": "x", "capped": true, "size": 1, "validator": {} }, 0),
            (doc! { "viewOn": "x", "clusteredIndex": clustered.clone() }, 6026500),
            (doc! { "viewOn": "x", "idIndex": { "key": { "_id": 1 }, "name": "_id_" } }, 72),
            (doc! { "viewOn": "x", "changeStreamPreAndPostImages": { "enabled": true } }, 72),
            (doc! { "viewOn": "x", "changeStreamPreAndPostImages": { "enabled": false } }, 0),
            (doc! { "create": "system.js", "viewOn": "x" }, 73),
            (doc! { "expireAfterSeconds": 1 }, 72),
            (doc! { "clusteredIndex": true }, 5979703),
            (doc! { "clusteredIndex": false }, 0),
            (doc! { "clusteredIndex": {} }, 40414),
            (doc! { "clusteredIndex": { "key": { "a": 1 }, "unique": true } }, 197),
            (doc! { "clusteredIndex": { "key": { "_id": 1 }, "unique": false } }, 5979700),
            (doc! { "clusteredIndex": { "key": { "_id": 1 }, "unique": true, "x": 1 } }, 40415),
            (doc! { "clusteredIndex": { "key": { "a": 1 }, "unique": false } }, 5979700),
            (doc! { "clusteredIndex": { "key": { "_id": 1 }, "unique": true, "v": 1 } }, 5979704),
            (doc! { "clusteredIndex": clustered.clone(), "size": 1 }, 6049200),
            (doc! { "clusteredIndex": clustered.clone(), "max": 1 }, 6049204),
            (doc! { "clusteredIndex": clustered.clone(), "capped": true }, 6127800),
            (doc! { "timeseries": {} }, 40414),
            (doc! { "timeseries": series.clone() }, 0),
            (doc! { "timeseries": { "timeField": "t.x" } }, 72),
            (doc! { "timeseries": { "timeField": "t", "metaField": "t" } }, 72),
            (doc! { "timeseries": { "timeField": "t", "metaField": "_id" } }, 72),
            (doc! { "timeseries": { "timeField": "t", "granularity": "x" } }, 2),
            (doc! { "timeseries": { "timeField": "t", "bucketMaxSpanSeconds": 0 } }, 2),
            (doc! { "timeseries": series.clone(), "capped": true, "size": 1 }, 72),
            (doc! { "timeseries": series, "validator": {} }, 72),
            (doc! { "idIndex": { "key": { "_id": 1 }, "name": "_id_" } }, 0),
            (doc! { "idIndex": { "key": { "a": 1 }, "name": "_id_" } }, 2),
            (doc! { "indexOptionDefaults": { "x": 1 } }, 40415),
            (doc! { "changeStreamPreAndPostImages": {} }, 40414),
            (doc! { "changeStreamPreAndPostImages": { "enabled": "x" } }, 14),
            (doc! { "temp": true }, 72),
            (doc! { "recordIdsReplicated": true }, 115),
            (doc! { "autoIndexId": true }, 40415),
            (doc! { "encryptedFields": {} }, 6346402),
        ],
    );
}
