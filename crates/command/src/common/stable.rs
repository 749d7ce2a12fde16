//! What version 1 of the stable API leaves out of the commands that it has: a client that
//! asks for nothing else (`apiStrict`) is told so.

use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use value::element::{array_elements, get};
use value::elements;

/// Arguments, by command, alphabetical.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("aggregate", &["exchange", "explain"]),
    ("create", &["autoIndexId", "capped", "indexOptionDefaults", "max", "size", "storageEngine"]),
    (
        "find",
        &[
            "awaitData",
            "max",
            "min",
            "noCursorTimeout",
            "oplogReplay",
            "returnKey",
            "showRecordId",
            "tailable",
        ],
    ),
];

/// Stages of a pipeline.
const STAGES: &[&str] =
    &["$currentOp", "$indexStats", "$listLocalSessions", "$listSessions", "$planCacheStats"];

/// Options of an index.
const INDEX_OPTIONS: &[&str] = &["background", "bucketSize", "sparse", "storageEngine"];

pub fn check(command: &str, body: &RawDocument) -> Result<()> {
    let left_out = ARGUMENTS.iter().find(|(name, _)| *name == command).map(|(_, names)| *names);
    for element in elements(body).skip(1) {
        if left_out.is_some_and(|names| names.contains(&element.key)) {
            return Err(not_allowed(command, element.key));
        }
        match (command, element.key, element.value()) {
            ("aggregate", "pipeline", RawBsonRef::Array(stages)) => {
                documents(stages).try_for_each(stage)?;
            }
            ("createIndexes", "indexes", RawBsonRef::Array(indexes)) => {
                documents(indexes).try_for_each(index)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn documents(array: &bson::RawArray) -> impl Iterator<Item = &RawDocument> {
    array_elements(array).filter_map(|element| element.as_document())
}

fn stage(stage: &RawDocument) -> Result<()> {
    let Some(first) = elements(stage).next() else { return Ok(()) };
    let more_than_count = |options: &RawDocument| elements(options).any(|it| it.key != "count");
    let refused = match first.key {
        "$collStats" => {
            let counts = first.as_document().is_some_and(|it| get(it, "count").is_some());
            !counts || first.as_document().is_some_and(more_than_count)
        }
        name => STAGES.contains(&name),
    };
    match refused {
        true => Err(Code::APIStrictError.error(format!(
            "stage {} is not allowed with 'apiStrict: true' in API Version 1",
            first.key
        ))),
        false => Ok(()),
    }
}

fn index(spec: &RawDocument) -> Result<()> {
    match elements(spec).find(|option| INDEX_OPTIONS.contains(&option.key)) {
        Some(option) => Err(not_allowed("createIndexes.indexes", option.key)),
        None => Ok(()),
    }
}

fn not_allowed(scope: &str, name: &str) -> Error {
    Code::APIStrictError
        .error(format!("BSON field '{scope}.{name}' is not allowed with apiStrict:true."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn what_is_left_out_is_refused() {
        let refused = |command: &str, body: bson::RawDocumentBuf| check(command, &body).is_err();
        assert!(refused("find", rawdoc! { "find": "c", "showRecordId": false }));
        assert!(refused("create", rawdoc! { "create": "c", "capped": true, "size": 1 }));
        assert!(refused("aggregate", rawdoc! { "aggregate": "c", "explain": true }));
        let pipeline = |stage| rawdoc! { "aggregate": "c", "pipeline": [stage] };
        assert!(refused("aggregate", pipeline(rawdoc! { "$indexStats": {} })));
        assert!(refused("aggregate", pipeline(rawdoc! { "$collStats": {} })));
        assert!(refused(
            "aggregate",
            pipeline(rawdoc! { "$collStats": { "count": {}, "latencyStats": {} } })
        ));
        assert!(refused(
            "createIndexes",
            rawdoc! { "createIndexes": "c", "indexes": [{ "key": { "a": 1 }, "sparse": false }] }
        ));
        assert!(!refused("aggregate", pipeline(rawdoc! { "$collStats": { "count": {} } })));
        assert!(!refused("aggregate", pipeline(rawdoc! { "$match": {} })));
        assert!(!refused("find", rawdoc! { "find": "c", "hint": "a", "sort": { "a": 1 } }));
        assert!(!refused("insert", rawdoc! { "insert": "c", "max": 1 }));
    }
}
