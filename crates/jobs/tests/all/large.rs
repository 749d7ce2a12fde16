//! Documents over 16 MB, their arrays whole, go out and in.

use crate::place::Place;
use bson::{Bson, Document, RawDocumentBuf, doc, rawdoc};
use freeboard_jobs::{
    ExistingDocument, Export, Exported, FilePolicy, Import, Imported, metadata_path,
};
use futures::TryStreamExt;
use std::path::Path;

/// Each has a page of its own.
const ELEMENT_BYTES: usize = 200 * 1024;
/// With these a document has more than 16 MB.
const LONG: i32 = 110;

async fn export(place: &Place, namespace: &str, file: &Path) -> Exported {
    let export = Export { uri: &place.uri, namespace, file, format: None, documents_only: false };
    export.run().await.unwrap()
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

fn element(n: i32) -> Document {
    doc! { "n": n, "text": "x".repeat(ELEMENT_BYTES) }
}

async fn run(place: &Place, command: Document) -> Document {
    place.client.database("d").run_command(command).await.unwrap()
}

async fn set_policy(place: &Place, name: &str) {
    let policy = doc! { "arrays": {
        "s.old": { "max": 3, "on_limit": "overflow", "overflow": { "page": 4, "pages": "more" } },
        "new": { "max": 5, "on_limit": "overflow", "overflow": {
            "keep": "newest", "read": "head", "flag": "flagged", "page": 7,
        } },
        "short": { "max": 2, "on_limit": "overflow" },
    } };
    run(place, doc! { "setGrowthPolicy": name, "policy": policy }).await;
}

/// Documents without pages, with pages that fit, and two that do not.
async fn fill(place: &Place) {
    set_policy(place, "c").await;
    let collection = place.client.database("d").collection::<Document>("c");
    for id in [1, 2, 3, 4] {
        let document = doc! {
            "_id": id, "s": { "a": 1, "old": [], "b": 2 }, "new": [], "short": [1, 2, 3, id], "z": 9,
        };
        collection.insert_one(document).await.unwrap();
        let (old, new) = match id {
            1 => (2, 2),
            2 => (20, 0),
            3 => (LONG, LONG),
            _ => (10, LONG),
        };
        for (path, count) in [("s.old", old), ("new", new)] {
            let all: Vec<i32> = (0..count).collect();
            for some in all.chunks(10) {
                let each: Vec<Document> = some.iter().map(|n| element(*n)).collect();
                let push = doc! { "$push": { path: { "$each": each } } };
                collection.update_one(doc! { "_id": id }, push).await.unwrap();
            }
        }
    }
}

/// The numbers of a document's elements, in order, in parts that fit a reply.
async fn numbers(place: &Place, name: &str, id: i32, path: &str) -> Vec<i32> {
    let collection = place.client.database("d").collection::<Document>(name);
    let mut numbers = Vec::new();
    loop {
        let slice = doc! { path: { "$slice": [numbers.len() as i32, 20] }, "_id": 1 };
        let found = collection.find_one(doc! { "_id": id }).projection(slice).await.unwrap();
        let found = found.unwrap();
        let within = found.get_document("s").ok().filter(|_| path == "s.old");
        let array = match within {
            Some(s) => s.get_array("old").unwrap(),
            None => found.get_array(path).unwrap(),
        };
        if array.is_empty() {
            return numbers;
        }
        let number = |item: &Bson| item.as_document().unwrap().get_i32("n").unwrap();
        numbers.extend(array.iter().map(number));
    }
}

async fn assert_same(place: &Place, name: &str) {
    for (id, old, new) in [(1, 2, 2), (2, 20, 0), (3, LONG, LONG), (4, 10, LONG)] {
        assert_eq!(numbers(place, name, id, "s.old").await, (0..old).collect::<Vec<_>>(), "{id}");
        assert_eq!(numbers(place, name, id, "new").await, (0..new).collect::<Vec<_>>(), "{id}");
    }
    let collection = place.client.database("d").collection::<Document>(name);
    let rest = collection.find(doc! {}).projection(doc! { "s.old": 0, "new": 0 });
    let rest: Vec<Document> =
        rest.sort(doc! { "_id": 1 }).await.unwrap().try_collect().await.unwrap();
    for (id, rest) in (1..).zip(&rest) {
        assert_eq!(rest.get_document("s").unwrap().get_i32("b").unwrap(), 2);
        let short: Vec<Bson> = [1, 2, 3, id].map(Bson::from).into();
        assert_eq!(rest.get_array("short").unwrap(), &short);
        assert_eq!(rest.get_i32("z").unwrap(), 9);
    }
    let verified = run(place, doc! { "verifyGrowth": name }).await;
    assert!(verified.get_bool("clean").unwrap(), "{verified}");
}

#[tokio::test(flavor = "multi_thread")]
async fn they_go_round_in_parts() {
    let place = Place::new().await;
    fill(&place).await;
    for (name, file) in [("by_json", "c.ndjson"), ("by_bson", "c.bson")] {
        let file = place.path(file);
        let exported = export(&place, "d.c", &file).await;
        assert_eq!((exported.documents, exported.partial), (4, 2));
        assert_eq!(exported.warnings, Vec::<String>::new());
        set_policy(&place, name).await;
        let namespace = format!("d.{name}");
        let imported = import(&place, &namespace, &file).run().await.unwrap();
        assert_eq!(imported, Imported { documents: 4, ..Imported::default() });
        assert_same(&place, name).await;
    }
    let text = std::fs::read_to_string(place.path("c.ndjson")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let begins = |what: &str| lines.iter().filter(|line| line.starts_with(what)).count();
    assert_eq!(begins("{\"_id\":"), 2);
    assert_eq!(begins("{\"$freeboard\":{\"partial\":{\"_id\":"), 2);
    assert_eq!(begins("{\"$freeboard\":{\"append\":") + 4, lines.len());
    assert!(!text.contains("\"more\"") && !text.contains("\"flagged\""));
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_policy_they_are_refused_by_name() {
    let place = Place::new().await;
    fill(&place).await;
    let file = place.path("c.bson");
    export(&place, "d.c", &file).await;
    let imported = import(&place, "d.plain", &file).run().await.unwrap();
    assert_eq!((imported.documents, imported.failed), (2, 2));
    assert_eq!(imported.policy, FilePolicy::Left);
    let why = &imported.failures[0].why;
    assert!(why.starts_with("document 3 passes 16 MB with the 110 elements of 's.old'"), "{why}");
    assert!(why.contains("does not overflow in d.plain"), "{why}");
    let there = place.collection("plain").count_documents(doc! {}).await.unwrap();
    assert_eq!(there, 2);

    // A policy that keeps less is no place for them either, and leaves nothing behind.
    let arrays = doc! { "arrays": {
        "s.old": { "max": 30, "on_limit": "drop_oldest" },
        "new": { "max": 3, "on_limit": "overflow" },
    } };
    run(&place, doc! { "setGrowthPolicy": "less", "policy": arrays }).await;
    let imported = import(&place, "d.less", &file).run().await.unwrap();
    let why = &imported.failures[0].why;
    assert_eq!(why, "document 3 has 30 of the 110 elements of 's.old' in d.less");
    assert_eq!((imported.documents, imported.failed), (3, 1));
    assert_eq!(place.collection("less").count_documents(doc! { "_id": 3 }).await.unwrap(), 0);
    assert_eq!(
        place.collection("less_new").count_documents(doc! { "parentId": 3 }).await.unwrap(),
        0
    );
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_policy_goes_along_where_it_is_asked_for() {
    let place = Place::new().await;
    fill(&place).await;
    run(
        &place,
        doc! { "createIndexes": "c", "indexes": [
            { "key": { "new.n": 1 }, "name": "by_n" },
        ] },
    )
    .await;
    let file = place.path("c.ndjson");
    export(&place, "d.c", &file).await;
    let other = place.client.database("other");
    let with_policy = Import { with_policy: true, ..import(&place, "other.c", &file) };
    let imported = with_policy.run().await.unwrap();
    assert_eq!((imported.documents, imported.failed), (4, 0));
    assert_eq!(imported.policy, FilePolicy::Set);
    let verified = other.run_command(doc! { "verifyGrowth": "c" }).await.unwrap();
    assert!(verified.get_bool("clean").unwrap(), "{verified}");
    assert_eq!(imported.made.indexes, ["by_n"]);
    let policy = |database: &str| {
        let get = doc! { "getGrowthPolicy": "c" };
        let database = place.client.database(database);
        async move { database.run_command(get).await.unwrap().get_document("policy").unwrap().clone() }
    };
    assert_eq!(policy("d").await, policy("other").await);

    std::fs::remove_file(metadata_path(&file).unwrap()).unwrap();
    let error = with_policy.run().await.unwrap_err().to_string();
    assert!(error.starts_with("there is no growth policy beside"), "{error}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_is_missing_fails_its_document_alone() {
    let place = Place::new().await;
    fill(&place).await;
    set_policy(&place, "to").await;
    let file = place.path("c.ndjson");
    export(&place, "d.c", &file).await;
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let partial = lines.iter().position(|line| line.contains("\"partial\"")).unwrap();
    lines.remove(partial + 2);
    // And the file is cut off behind the last document's first part.
    let last = lines.iter().rposition(|line| line.contains("\"partial\"")).unwrap();
    lines.truncate(last + 1);
    let cut = place.path("cut.ndjson");
    std::fs::write(&cut, lines.join("\n")).unwrap();
    let imported = import(&place, "d.to", &cut).run().await.unwrap();
    assert_eq!((imported.documents, imported.failed), (2, 2));
    let [gap, end] = &imported.failures[..] else { panic!("{:?}", imported.failures) };
    assert!(gap.why.contains("was expected") && gap.why.starts_with("document 3"), "{gap}");
    assert!(end.why.starts_with("document 4: the file has "), "{end}");
    assert_eq!(place.collection("to").count_documents(doc! {}).await.unwrap(), 2);
    let verified = run(&place, doc! { "verifyGrowth": "to" }).await;
    assert!(verified.get_bool("clean").unwrap(), "{verified}");

    // Nothing is dropped for such a file.
    let error = Import { drop: true, ..import(&place, "d.to", &cut) }.run().await.unwrap_err();
    assert!(error.to_string().ends_with("; nothing was dropped"), "{error}");
    assert_eq!(place.collection("to").count_documents(doc! {}).await.unwrap(), 2);

    // What is there in part is not taken for the whole.
    let part = rawdoc! { "_id": 3, "s": { "old": [] }, "new": [] };
    place.collection("to").insert_one(part).await.unwrap();
    let skip = Import { existing: ExistingDocument::Skip, ..import(&place, "d.to", &file) };
    let imported = skip.run().await.unwrap();
    assert_eq!((imported.documents, imported.skipped, imported.failed), (1, 2, 1));
    let why = &imported.failures[0].why;
    assert!(why.starts_with("document 3 has 0 of the 110 elements of 's.old' in d.to"), "{why}");
    place.collection("to").delete_one(doc! { "_id": 3 }).await.unwrap();
    let imported = skip.run().await.unwrap();
    assert_eq!((imported.documents, imported.skipped, imported.failed), (1, 3, 0));
    assert_same(&place, "to").await;
    place.stop().await;
}

/// One failure for a document whose beginning cannot be read, and one for its first part.
#[tokio::test(flavor = "multi_thread")]
async fn parts_without_a_beginning_are_one_failure() {
    let place = Place::new().await;
    set_policy(&place, "c").await;
    let part = |id: &str, at: usize| {
        let elements = "{\"append\": \"new\", \"_id\": ID, \"at\": AT, \"elements\": [1]}";
        let part = elements.replace("ID", id).replace("AT", &at.to_string());
        format!("{{\"$freeboard\": {part}}}\n")
    };
    let nan = "{\"$numberDouble\": \"NaN\"}";
    let begin =
        format!("{{\"partial\": {{\"_id\": {nan}, \"new\": []}}, \"arrays\": {{\"new\": 9}}}}");
    // The document of that name has all its parts, whatever stood before it.
    let mut text = format!("{{\"_id\": 0}}\nnonsense\n{}", part("1", 4));
    (5..50).for_each(|at| text += &part("1", at));
    text += &format!("{{\"$freeboard\": {begin}}}\n");
    (0..9).for_each(|at| text += &part(nan, at));
    let file = place.path("c.ndjson");
    std::fs::write(&file, text).unwrap();
    let imported = import(&place, "d.c", &file).run().await.unwrap();
    assert_eq!((imported.documents, imported.failed), (2, 2), "{imported:?}");
    let numbers: Vec<u64> = imported.failures.iter().map(|failure| failure.number).collect();
    assert_eq!(numbers, [2, 3]);
    let verified = run(&place, doc! { "verifyGrowth": "c" }).await;
    assert!(verified.get_bool("clean").unwrap(), "{verified}");
    place.stop().await;
}

/// What can be known before it refuses an import before anything is dropped.
#[tokio::test(flavor = "multi_thread")]
async fn a_drop_comes_after_all_that_may_refuse_the_import() {
    let place = Place::new().await;
    fill(&place).await;
    let file = place.path("c.ndjson");
    export(&place, "d.c", &file).await;
    let refused = async |import: Import<'_>, name: &str, words: &str| {
        let error = import.run().await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(place.collection(name).count_documents(doc! {}).await.unwrap(), 1);
    };
    // None of the arrays that pass 16 MB overflows there.
    place.collection("plain").insert_one(rawdoc! { "_id": 1 }).await.unwrap();
    let into_plain = Import { drop: true, ..import(&place, "d.plain", &file) };
    refused(into_plain, "plain", "which does not overflow in d.plain").await;
    // The pages of the file's policy would go where another one has its own.
    let beside = metadata_path(&file).unwrap();
    let exported = std::fs::read_to_string(&beside).unwrap();
    let pages_go_to = |into: &str| {
        let keep = "\"keep\":\"newest\"";
        let text = exported.replace(keep, &format!("\"into\":\"{into}\",{keep}"));
        assert_ne!(text, exported);
        std::fs::write(&beside, text).unwrap();
    };
    pages_go_to("c_new");
    let with_policy = Import { with_policy: true, drop: true, ..import(&place, "d.plain", &file) };
    refused(with_policy, "plain", "so nothing was changed").await;
    // They would go where other documents are, and its own pages would go with the drop.
    pages_go_to("plain");
    let with_policy = || Import { with_policy: true, drop: true, ..import(&place, "d.c", &file) };
    let error = with_policy().run().await.unwrap_err().to_string();
    assert!(error.contains("overflows into 'd.plain', which holds documents already"), "{error}");
    assert_eq!(place.collection("c").count_documents(doc! {}).await.unwrap(), 4);
    pages_go_to("elsewhere");
    let imported = with_policy().run().await.unwrap();
    assert_eq!((imported.documents, imported.policy), (4, FilePolicy::Set));
    assert_same(&place, "c").await;
    assert!(place.collection("elsewhere").count_documents(doc! {}).await.unwrap() > 0);
    place.stop().await;
}

/// Whatever is written meanwhile, document and pages are of one moment.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_sees_one_moment() {
    let place = Place::new().await;
    let policy = doc! { "arrays": { "a": {
        "max": 2, "on_limit": "overflow", "overflow": { "page": 2 },
    } } };
    run(&place, doc! { "setGrowthPolicy": "c", "policy": policy }).await;
    let collection = place.client.database("d").collection::<Document>("c");
    let filler = "x".repeat(50_000);
    collection
        .insert_many((0..400).map(|id| doc! { "_id": id, "a": [0], "n": 1, "f": &filler }))
        .await
        .unwrap();
    let writes = tokio::spawn(async move {
        for n in 1.. {
            let push = doc! { "$push": { "a": n }, "$inc": { "n": 1 } };
            if collection.update_many(doc! {}, push).await.is_err() {
                break;
            }
        }
    });
    for round in 0..4 {
        let file = place.path(&format!("{round}.bson"));
        export(&place, "d.c", &file).await;
        let documents = read(&file);
        for document in &documents {
            let array = document.get_array("a").unwrap();
            let numbers: Vec<i32> =
                array.into_iter().map(|item| item.unwrap().as_i32().unwrap()).collect();
            assert_eq!(numbers, (0..document.get_i32("n").unwrap()).collect::<Vec<_>>());
        }
        assert_eq!(documents.len(), 400);
    }
    writes.abort();
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_of_them_says_that_it_may_show_heads() {
    let place = Place::new().await;
    set_policy(&place, "c").await;
    place.collection("c").insert_one(rawdoc! { "_id": 1, "new": [1, 2] }).await.unwrap();
    for (view, on) in [("v", "c"), ("w", "v")] {
        run(&place, doc! { "create": view, "viewOn": on, "pipeline": [] }).await;
        let file = place.path("v.ndjson");
        let exported = export(&place, &format!("d.{view}"), &file).await;
        assert!(exported.warnings[0].contains("a view of d.c"), "{:?}", exported.warnings);
    }
    place.stop().await;
}

/// Documents and pages meet whatever the `_id`s are.
#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_id_finds_its_pages() {
    let place = Place::new().await;
    let decimal: bson::Decimal128 = "1.50".parse().unwrap();
    let binary = |bytes: &[u8]| bson::Binary {
        subtype: bson::spec::BinarySubtype::Generic,
        bytes: bytes.to_vec(),
    };
    let ids: Vec<Bson> = vec![
        Bson::MaxKey,
        "b".into(),
        "B".into(),
        "ä".into(),
        "x".repeat(100_000).into(),
        format!("{}y", "x".repeat(100_000)).into(),
        2.5.into(),
        f64::NAN.into(),
        (-0.0).into(),
        1.into(),
        i64::MAX.into(),
        decimal.into(),
        Bson::Null,
        true.into(),
        doc! { "b": 1, "a": 2 }.into(),
        doc! { "a": "x" }.into(),
        doc! {}.into(),
        binary(&[9]).into(),
        binary(&[1, 2]).into(),
        bson::oid::ObjectId::from_bytes([7; 12]).into(),
        bson::DateTime::from_millis(-5).into(),
        bson::Timestamp { time: 1, increment: 2 }.into(),
        Bson::MinKey,
    ];
    for (name, create) in [
        ("plain", doc! { "create": "plain" }),
        ("collated", doc! { "create": "collated", "collation": { "locale": "de" } }),
    ] {
        run(&place, create).await;
        let arrays = doc! { "a": { "max": 2, "on_limit": "overflow", "overflow": { "page": 2 } } };
        run(&place, doc! { "setGrowthPolicy": name, "policy": { "arrays": arrays } }).await;
        let documents: Vec<RawDocumentBuf> = (0_i32..)
            .zip(&ids)
            .map(|(n, id)| doc! { "_id": id, "n": n, "a": (0..n).collect::<Vec<i32>>() })
            .map(|document| RawDocumentBuf::try_from(&document).unwrap())
            .collect();
        place.collection(name).insert_many(&documents).await.unwrap();
        let file = place.path(&format!("{name}.bson"));
        let exported = export(&place, &format!("d.{name}"), &file).await;
        assert_eq!((exported.documents, exported.warnings.len()), (ids.len() as u64, 0));
        let mut found = read(&file);
        found.sort_by_key(|document| document.get_i32("n").unwrap());
        assert_eq!(found, documents, "{name}");
    }
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_what_was_acknowledged_before_it() {
    let place = Place::new().await;
    let arrays = doc! { "a": { "max": 2, "on_limit": "overflow" } };
    run(&place, doc! { "setGrowthPolicy": "c", "policy": { "arrays": arrays } }).await;
    for n in 0_i32..5 {
        let file = place.path("c.bson");
        let insert = doc! {
            "insert": "c", "documents": [{ "_id": n, "a": [1, 2, 3] }],
            "writeConcern": { "w": 1, "j": false },
        };
        run(&place, insert).await;
        let exported = export(&place, "d.c", &file).await;
        assert_eq!(exported.documents, n as u64 + 1);
    }
    place.stop().await;
}

/// The documents of a BSON file.
fn read(file: &Path) -> Vec<RawDocumentBuf> {
    let bytes = std::fs::read(file).unwrap();
    let mut rest = &bytes[..];
    let mut documents = Vec::new();
    while !rest.is_empty() {
        let length = i32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
        documents.push(RawDocumentBuf::from_bytes(rest[..length].to_vec()).unwrap());
        rest = &rest[length..];
    }
    documents
}
