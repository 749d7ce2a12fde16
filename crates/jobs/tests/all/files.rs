//! Export and import.

use crate::place::Place;
use bson::oid::ObjectId;
use bson::spec::{BinarySubtype, ElementType};
use bson::{
    Binary, DateTime, Decimal128, RawBson, RawDocumentBuf, RawJavaScriptCodeWithScope, Timestamp,
    doc, rawdoc,
};
use freeboard_jobs::{Error, ExistingDocument, Export, Failure, Import, Imported};
use std::path::Path;
use value::{DocumentWriter, Element};

fn export<'a>(place: &'a Place, namespace: &'a str, file: &'a Path) -> Export<'a> {
    Export { uri: &place.uri, namespace, file, format: None, documents_only: false }
}

fn import<'a>(place: &'a Place, namespace: &'a str, file: &'a Path) -> Import<'a> {
    Import {
        uri: &place.uri,
        namespace,
        file,
        format: None,
        drop: false,
        documents_only: false,
        with_policy: false,
        existing: ExistingDocument::Fail,
    }
}

/// A document with a value of every type.
fn every_type() -> RawDocumentBuf {
    let code = RawJavaScriptCodeWithScope { code: "f()".into(), scope: rawdoc! { "a": 1 } };
    let id = ObjectId::from_bytes([7; 12]);
    let mut pointer = vec![4, 0, 0, 0, b'd', b'.', b'c', 0];
    pointer.extend_from_slice(&id.bytes());
    let mut writer = DocumentWriter::resume(rawdoc! {
        "_id": id,
        "double": -0.0,
        "string": "é\n\"",
        "document": { "b": 1, "a": { "": [] } },
        "array": [1, "x", RawBson::Null, { "y": [] }],
        "binary": Binary { subtype: BinarySubtype::UserDefined(0x80), bytes: vec![0, 255] },
        "old": Binary { subtype: BinarySubtype::BinaryOld, bytes: vec![1, 2, 3] },
        "uuid": Binary::from(bson::Uuid::from_bytes([9; 16])),
        "undefined": RawBson::Undefined,
        "true": true,
        "date": DateTime::from_millis(-62_135_596_800_001),
        "null": RawBson::Null,
        "code": RawBson::JavaScriptCode("1".into()),
        "symbol": RawBson::Symbol("s".into()),
        "scope": RawBson::JavaScriptCodeWithScope(code),
        "int": i32::MIN,
        "timestamp": Timestamp { time: 7, increment: u32::MAX },
        "long": i64::MIN,
        "decimal": "-1.00E-7".parse::<Decimal128>().unwrap(),
        "min": RawBson::MinKey,
        "max": RawBson::MaxKey,
    });
    writer.copy(Element { kind: ElementType::RegularExpression, key: "regex", bytes: b"^a\0i\0" });
    writer.copy(Element { kind: ElementType::DbPointer, key: "pointer", bytes: &pointer });
    writer.finish()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_and_size_goes_round_unchanged() {
    let place = Place::new().await;
    let mut documents = vec![every_type()];
    let big = "x".repeat(5 * 1024 * 1024);
    documents.extend((0..3).map(|id| rawdoc! { "_id": format!("big {id}"), "big": big.as_str() }));
    documents.extend((0..3_000).map(|id| rawdoc! { "_id": id, "name": format!("number {id}") }));
    place.collection("first").insert_many(&documents).await.unwrap();
    let first = place.path("first.bson");
    export(&place, "d.first", &first).run().await.unwrap();
    let bytes = std::fs::read(&first).unwrap();
    assert!(bytes.starts_with(documents[0].as_bytes()));
    for (name, file) in [("by_json", "first.ndjson"), ("by_bson", "copy.bson")] {
        let file = place.path(file);
        let exported = export(&place, "d.first", &file).run().await.unwrap();
        assert_eq!(exported.documents, documents.len() as u64);
        let namespace = format!("d.{name}");
        let imported = import(&place, &namespace, &file).run().await.unwrap();
        let all = Imported { documents: documents.len() as u64, ..Imported::default() };
        assert_eq!(imported, all);
        // Batches arrive in any order: compared document by document.
        let collection = place.collection(name);
        for document in documents.iter().take(50) {
            let id = bson::serialize_to_bson(&document.get("_id").unwrap().unwrap()).unwrap();
            let found = collection.find_one(doc! { "_id": id }).await.unwrap();
            assert_eq!(found.unwrap().as_bytes(), document.as_bytes());
        }
        assert_eq!(collection.count_documents(doc! {}).await.unwrap(), documents.len() as u64);
    }
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_imported_is_told_by_its_line() {
    let place = Place::new().await;
    let file = place.path("some.json");
    let lines = [
        r#"{"_id": 1}"#,
        "",
        r#"{"_id": 2, "a": }"#,
        r#"{"_id": 1, "again": true}"#,
        r#"{"_id": {"$numberLong": "3"}}"#,
        "not json",
    ];
    std::fs::write(&file, lines.join("\n")).unwrap();
    let imported = import(&place, "d.c", &file).run().await.unwrap();
    assert_eq!((imported.documents, imported.failed), (2, 3));
    let numbers: Vec<u64> = imported.failures.iter().map(|failure| failure.number).collect();
    assert_eq!(numbers, [3, 4, 6]);
    assert!(imported.failures[1].why.contains("E11000"), "{:?}", imported.failures);
    let bad = Failure { number: 3, why: "column 17: expected a value".to_owned() };
    assert_eq!(imported.failures[0], bad);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_failures_are_counted() {
    let place = Place::new().await;
    let file = place.path("same.ndjson");
    std::fs::write(&file, "{\"_id\": 1}\n".repeat(5_000)).unwrap();
    let imported = import(&place, "d.c", &file).run().await.unwrap();
    assert_eq!((imported.documents, imported.failed), (1, 4_999));
    assert_eq!(imported.failures.len(), 20);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_off_file_ends_the_import() {
    let place = Place::new().await;
    let whole = rawdoc! { "_id": 1, "text": "some" };
    let file = place.path("cut.bson");
    let bytes = [whole.as_bytes(), &whole.as_bytes()[..10]].concat();
    std::fs::write(&file, bytes).unwrap();
    let error = import(&place, "d.c", &file).run().await.unwrap_err();
    assert!(matches!(error, Error::Input(_)), "{error}");
    assert_eq!(error.to_string(), "document 2 is cut off; nothing behind it was read");
    assert_eq!(place.collection("c").count_documents(doc! {}).await.unwrap(), 1);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_can_be_dropped_first() {
    let place = Place::new().await;
    place.collection("c").insert_one(rawdoc! { "_id": "old" }).await.unwrap();
    let file = place.path("new.jsonl");
    std::fs::write(&file, "{\"_id\": \"new\"}\n").unwrap();
    let import = Import { drop: true, ..import(&place, "d.c", &file) };
    import.run().await.unwrap();
    let found = place.collection("c").find_one(doc! {}).await.unwrap().unwrap();
    assert_eq!(found, rawdoc! { "_id": "new" });
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_use_is_explained() {
    let place = Place::new().await;
    let unknown = place.path("file.txt");
    let error = export(&place, "d.c", &unknown).run().await.unwrap_err();
    assert!(error.to_string().contains("the format cannot be seen from the name"), "{error}");
    let file = place.path("file.ndjson");
    let error = export(&place, "nodot", &file).run().await.unwrap_err();
    assert!(error.to_string().contains("database.collection"), "{error}");
    let error = import(&place, "d.c", &file).run().await.unwrap_err();
    assert!(matches!(error, Error::File(..)), "{error}");
    assert!(!file.exists() && !place.path("file.ndjson.part").exists());
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arrays_that_overflow_go_round_whole() {
    let place = Place::new().await;
    let database = place.client.database("d");
    let policy = doc! { "arrays": {
        "s.a": { "max": 3, "on_limit": "overflow", "overflow": { "page": 2 } },
        "n": { "max": 2, "on_limit": "overflow", "overflow": { "keep": "newest", "flag": "more" } },
    } };
    for name in ["first", "second"] {
        let set = doc! { "setGrowthPolicy": name, "policy": policy.clone() };
        database.run_command(set).await.unwrap();
    }
    let long: Vec<i32> = (0..50).collect();
    let whole = doc! { "_id": 1, "s": { "a": &long, "b": 1 }, "n": &long, "z": 2 };
    let whole = RawDocumentBuf::try_from(&whole).unwrap();
    let short = rawdoc! { "_id": 2, "n": [1], "z": 3 };
    place.collection("first").insert_many([&whole, &short]).await.unwrap();
    let file = place.path("first.ndjson");
    export(&place, "d.first", &file).run().await.unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let says = ["HasOverflow", "OverflowPages", "more"];
    assert!(!says.iter().any(|word| text.contains(word)), "{text}");

    // Into a collection with the policy it is split again; into another it comes as it is.
    for name in ["second", "plain"] {
        let namespace = format!("d.{name}");
        let imported = import(&place, &namespace, &file).run().await.unwrap();
        assert_eq!((imported.documents, imported.failed), (2, 0));
        let slices = doc! { "s.a": { "$slice": 100 }, "n": { "$slice": 100 } };
        let collection = place.client.database("d").collection::<bson::Document>(name);
        let found = collection.find_one(doc! { "_id": 1 }).projection(slices).await.unwrap();
        let found = found.unwrap();
        let ints: Vec<bson::Bson> = long.iter().map(|it| (*it).into()).collect();
        assert_eq!(found.get_document("s").unwrap().get_array("a").unwrap(), &ints);
        assert_eq!(found.get_array("n").unwrap(), &ints);
    }
    let verified = database.run_command(doc! { "verifyGrowth": "second" }).await.unwrap();
    assert!(verified.get_bool("clean").unwrap(), "{verified}");
    assert!(verified.get_i32("pages").unwrap() > 2, "{verified}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_only_look_like_counters_are_exported() {
    let place = Place::new().await;
    let own = [
        rawdoc! { "_id": 1, "b": 1, "aHasOverflow": "mine" },
        rawdoc! { "_id": 2, "a": "text", "aOverflowPages": "mine" },
    ];
    place.collection("c").insert_many(&own).await.unwrap();
    let policy = doc! { "arrays": { "a": { "max": 2, "on_limit": "overflow" } } };
    let set = doc! { "setGrowthPolicy": "c", "policy": policy };
    place.client.database("d").run_command(set).await.unwrap();
    let file = place.path("own.bson");
    export(&place, "d.c", &file).run().await.unwrap();
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(bytes, [own[0].as_bytes(), own[1].as_bytes()].concat());
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_begins_with_something_else_changes_nothing() {
    let place = Place::new().await;
    place.collection("c").insert_one(rawdoc! { "_id": "old" }).await.unwrap();
    let policy = doc! { "arrays": { "a": { "max": 2, "on_limit": "overflow" } } };
    let set = doc! { "setGrowthPolicy": "c", "policy": policy };
    place.client.database("d").run_command(set).await.unwrap();
    let file = place.path("some.json");
    for (text, hint) in [
        ("[{\"_id\": 1}, {\"_id\": 2}]\n", "looks like a JSON array"),
        ("[\n  {\"_id\": 1}\n]\n", "jq -c '.[]'"),
        ("{\n  \"_id\": 1\n}\n", "must stand on one line"),
        ("_id,name\n1,Ann\n", "line 1, the first of the file, is no document"),
    ] {
        std::fs::write(&file, text).unwrap();
        for (namespace, drop) in [("d.c", true), ("d.none", false)] {
            let import = Import { drop, ..import(&place, namespace, &file) };
            let error = import.run().await.unwrap_err().to_string();
            assert!(error.contains(hint) && error.contains("nothing was changed"), "{error}");
        }
    }
    // Nor is anything dropped for a file that cannot be read to its end.
    std::fs::write(&file, "{\"_id\": 1}\n{\"_id\": 2}\n{\"_id\": \n").unwrap();
    let error = Import { drop: true, ..import(&place, "d.c", &file) }.run().await.unwrap_err();
    let error = error.to_string();
    assert!(error.starts_with("line 3: ") && error.ends_with("; nothing was dropped"), "{error}");
    let names = place.client.database("d").list_collection_names().await.unwrap();
    assert_eq!(names, ["c"]);
    let found = place.collection("c").find_one(doc! {}).await.unwrap().unwrap();
    assert_eq!(found, rawdoc! { "_id": "old" });
    place.stop().await;
}
