//! Documents that are older than their policy, on a naive store.

use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use error::Result;
use freeboard_guard::adopt::{
    Aim, SettledDocument, mend_pages, rehearse_settle, remove_orphans, settle,
};
use naive::{Memory, namespace};
use value::Path;
use value::element::{array_elements, get_value};

fn policy(keep: &str, max: i32, page: i32) -> RawDocumentBuf {
    crate::named(rawdoc! { "arrays": {
        "a": { "max": max, "on_limit": "overflow",
               "overflow": { "into": "p", "page": page, "keep": keep } },
        "log": { "max": 2, "on_limit": "drop_oldest" },
        "tags": { "max": 2 },
    } })
}

fn numbers(range: std::ops::Range<i32>) -> RawArrayBuf {
    range.collect()
}

async fn run(memory: &Memory, aim: Aim) -> SettledDocument {
    settle(memory, &namespace("c"), RawBsonRef::Int32(1), aim).await.unwrap().unwrap()
}

/// The whole sequence, as head and pages hold it.
fn sequence(memory: &Memory, newest: bool) -> Vec<i32> {
    let items = |document: &RawDocument| -> Vec<i32> {
        let array = get_value(document, "a").and_then(|array| array.as_array());
        let items = array.into_iter().flat_map(array_elements);
        items.map(|item| item.value().as_i32().unwrap()).collect()
    };
    let mut pages = memory.documents("p");
    pages.sort_by_key(|page| get_value(page, "page").and_then(|page| page.as_i32()));
    let mut paged: Vec<i32> = pages.iter().flat_map(|page| items(page)).collect();
    let mut head = items(&memory.documents("c")[0]);
    if newest {
        paged.extend(head);
        return paged;
    }
    head.extend(paged);
    head
}

#[tokio::test]
async fn what_is_over_is_moved_dropped_or_told() {
    for (keep, head) in [("oldest", numbers(0..4)), ("newest", numbers(16..20))] {
        let memory = Memory::with_policy("c", &policy(keep, 4, 3));
        memory.put(
            "c",
            rawdoc! {
                "_id": 1, "aCount": 3, "aOverflowPages": 9, "a": numbers(0..20),
                "log": [1, 2, 3, 4], "tags": [1, 2, 3],
            },
        );
        let settled = run(&memory, Aim::Bounds).await;
        let cost = settled.cost;
        assert_eq!((cost.elements, cost.pages, cost.dropped), (16, 6, 2), "{keep}");
        assert_eq!(settled.over.len(), 1);
        assert_eq!(settled.over[0].path.as_deref(), Some("tags"));
        let expected = rawdoc! {
            "_id": 1, "aCount": 20, "aOverflowPages": 6, "a": head,
            "log": [3, 4], "tags": [1, 2, 3], "aHasOverflow": true,
        };
        assert_eq!(memory.documents("c"), [expected]);
        assert_eq!(sequence(&memory, keep == "newest"), (0..20).collect::<Vec<_>>());
        // Once more there is nothing to do.
        let again = run(&memory, Aim::Bounds).await;
        assert!(!again.changed && again.cost == Default::default());
    }
}

#[tokio::test]
async fn counters_alone_can_be_put_right() {
    let memory = Memory::with_policy("c", &policy("oldest", 4, 3));
    let stale = rawdoc! { "_id": 1, "a": numbers(0..9), "aCount": 1, "aHasOverflow": true,
    "aOverflowPages": 2 };
    memory.put("c", stale);
    assert!(run(&memory, Aim::Counters).await.changed);
    let expected = rawdoc! { "_id": 1, "a": numbers(0..9), "aCount": 9 };
    assert_eq!(memory.documents("c"), [expected]);
    assert!(memory.documents("p").is_empty());
}

#[tokio::test]
async fn lower_bounds_pack_anew() {
    for keep in ["oldest", "newest"] {
        for (max, page) in [(2, 5), (5, 2), (2, 2), (1, 1)] {
            let mut memory = Memory::with_policy("c", &policy(keep, 5, 5));
            memory.insert("c", &rawdoc! { "_id": 1, "a": numbers(0..18) }).await.unwrap();
            memory.set_policy("c", &policy(keep, max, page));
            run(&memory, Aim::Bounds).await;
            assert_eq!(sequence(&memory, keep == "newest"), (0..18).collect::<Vec<_>>());
            for page_of in memory.documents("p") {
                let count = get_value(&page_of, "count").and_then(|count| count.as_i32());
                assert!(count.unwrap() <= page, "{keep} {max} {page}");
            }
            let pages = memory.documents("p").len() as i32;
            let document = memory.documents("c").remove(0);
            let number = |key| get_value(&document, key).and_then(|it| it.as_i32()).unwrap();
            assert_eq!((number("aCount"), number("aOverflowPages")), (18, pages));
            assert!(!run(&memory, Aim::Bounds).await.changed);
        }
    }
}

#[tokio::test]
async fn pages_packed_anew_are_a_change() {
    let mut memory = Memory::with_policy("c", &policy("oldest", 2, 6));
    memory.insert("c", &rawdoc! { "_id": 1, "a": numbers(0..9) }).await.unwrap();
    let before = memory.documents("c");
    memory.set_policy("c", &policy("oldest", 2, 4));
    let id = RawBsonRef::Int32(1);
    let tried = rehearse_settle(&memory, &namespace("c"), id, Aim::Bounds).await.unwrap();
    let tried = tried.outcome.unwrap().unwrap();
    assert_eq!(memory.documents("p").len(), 2);
    let settled = run(&memory, Aim::Bounds).await;
    assert!(settled.changed && memory.documents("c") == before);
    assert_eq!((settled.cost.elements, settled.cost.pages), (7, 2));
    assert_eq!((tried.changed, tried.cost), (true, settled.cost));
    assert!(!run(&memory, Aim::Bounds).await.changed);
}

#[tokio::test]
async fn a_write_does_not_trust_fields_that_are_older_than_the_policy() {
    let policy = policy("oldest", 4, 3);
    for (update, items, count) in [
        (rawdoc! { "$set": { "x": 1 } }, numbers(0..3), 3),
        (rawdoc! { "$push": { "a": 3 } }, numbers(0..4), 4),
        (rawdoc! { "$pop": { "a": 1 } }, numbers(0..2), 2),
        (rawdoc! { "$pull": { "a": 0 } }, numbers(1..3), 2),
    ] {
        let memory = Memory::with_uncounted_policy("c", &policy);
        memory.put("c", rawdoc! {
            "_id": 1, "a": numbers(0..3), "aCount": 70, "aHasOverflow": true, "aOverflowPages": 7,
        });
        let update = RawBsonRef::Document(&update);
        memory.update("c", &rawdoc! { "_id": 1 }, update, None).await.unwrap();
        let document = memory.documents("c").remove(0);
        assert_eq!(get_value(&document, "a"), Some(RawBsonRef::Array(&items)), "{update:?}");
        assert_eq!(get_value(&document, "aCount"), Some(RawBsonRef::Int32(count)), "{update:?}");
        assert_eq!(get_value(&document, "aOverflowPages"), None);
        assert!(memory.documents("p").is_empty());
    }
    // Pages that are really there are found, whatever the counters say.
    let memory = Memory::with_uncounted_policy("c", &policy);
    memory.insert("c", &rawdoc! { "_id": 1, "a": numbers(0..9) }).await.unwrap();
    let update = rawdoc! { "$push": { "a": 9 } };
    let update = RawBsonRef::Document(&update);
    memory.update("c", &rawdoc! { "_id": 1 }, update, None).await.unwrap();
    assert_eq!(sequence(&memory, false), (0..10).collect::<Vec<_>>());
}

#[tokio::test]
async fn pages_are_mended_and_orphans_removed() -> Result<()> {
    let memory = Memory::with_policy("c", &policy("oldest", 2, 3));
    for id in [1, 2] {
        memory.insert("c", &rawdoc! { "_id": id, "a": numbers(0..8) }).await?;
    }
    let wrong = |page: &RawDocument| {
        let mut out = value::DocumentWriter::new();
        for field in value::elements(page) {
            match field.key {
                "count" => out.append_i32("count", 55),
                _ => out.copy(field),
            }
        }
        out.finish()
    };
    let pages = memory.documents("p");
    memory.replace_all("p", pages.iter().map(|page| wrong(page)).collect());
    mend_pages(&memory, &namespace("c"), RawBsonRef::Int32(1)).await?;
    assert_eq!(memory.documents("p")[..2], pages[..2]);
    let path = Path::new("a");
    let parent = RawBsonRef::Int32(2);
    assert!(!remove_orphans(&memory, &namespace("c"), &path, parent).await?);
    let first = memory.documents("c").remove(0);
    memory.replace_all("c", vec![first]);
    assert!(remove_orphans(&memory, &namespace("c"), &path, parent).await?);
    assert_eq!(memory.documents("p"), pages[..2]);
    Ok(())
}

/// Pages are as large as earlier bounds had them.
#[tokio::test]
async fn pages_that_lose_elements_are_repacked_in_the_same_pass() {
    for keep in ["oldest", "newest"] {
        let mut memory = Memory::with_policy("c", &policy(keep, 2, 10));
        memory.insert("c", &rawdoc! { "_id": 1, "a": numbers(0..32) }).await.unwrap();
        memory.set_policy(
            "c",
            &crate::named(rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow", "overflow": {
                "into": "p", "page": 5, "keep": keep, "total_max": 15, "on_total": "drop_oldest",
            } } } }),
        );
        let (name, id) = (namespace("c"), RawBsonRef::Int32(1));
        let rehearsed = rehearse_settle(&memory, &name, id, Aim::Bounds).await.unwrap();
        let rehearsed = rehearsed.outcome.unwrap().unwrap();
        let settled = run(&memory, Aim::Bounds).await;
        assert_eq!(settled.cost, rehearsed.cost);
        assert_eq!(settled.cost.dropped, 17);
        assert_eq!(sequence(&memory, keep == "newest"), (17..32).collect::<Vec<_>>(), "{keep}");
        let counts = memory.documents("p").into_iter();
        let counts: Vec<i32> =
            counts.map(|page| get_value(&page, "count").unwrap().as_i32().unwrap()).collect();
        assert!(counts.iter().all(|count| *count <= 5), "{keep}: {counts:?}");
        assert!(!run(&memory, Aim::Bounds).await.changed);
    }
}
