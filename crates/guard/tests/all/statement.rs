//! One statement on one document (`as_statement`) does what the write loop does, wherever its
//! conditions hold.

use bson::{Document, RawBsonRef, RawDocumentBuf, doc};
use freeboard_guard::{Policy, Table};
use language::Context;
use language::update::Update;
use naive::{Memory, namespace};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

const ROUNDS: usize = 4_000;

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

fn policies() -> Vec<Document> {
    let arrays = |on_limit: &str| doc! { "a": { "max": 3, "on_limit": on_limit } };
    vec![
        doc! { "arrays": arrays("reject") },
        doc! { "arrays": arrays("drop_oldest") },
        doc! { "arrays": arrays("drop_newest") },
        doc! { "arrays": arrays("reject"), "document": { "max_bytes": 260 } },
        doc! { "document": { "max_bytes": 260 } },
        doc! { "arrays": { "a": { "max": 3, "max_bytes": 60 } } },
        doc! { "arrays": arrays("overflow") },
        doc! { "undeclared_arrays": { "max": 2 } },
    ]
}

fn update(random: &mut StdRng) -> Document {
    let pushed: Vec<i32> = (0..random.random_range(0..5)).collect();
    let array = if random.random_bool(0.8) { "a" } else { "b" };
    match random.random_range(0..7) {
        0..=2 => doc! { "$push": { array: random.random_range(0..9) } },
        3 => doc! { "$push": { array: { "$each": pushed } } },
        4 => doc! { "$push": { array: { "$each": pushed, "$position": 0 } } },
        5 => doc! { "$push": { array: "x".repeat(random.random_range(0..90)) } },
        _ => doc! { "$set": { "n": random.random_range(0..9) } },
    }
}

fn document(random: &mut StdRng) -> Document {
    let items: Vec<i32> = (0..random.random_range(0..6)).collect();
    let mut document = doc! { "_id": 1, "pad": "y".repeat(random.random_range(0..200)) };
    match random.random_range(0..8) {
        0 => {}
        1 => drop(document.insert("a", 5)),
        _ => drop(document.insert("a", items)),
    }
    document
}

#[tokio::test]
async fn one_statement_does_what_the_loop_does() {
    let mut random = StdRng::seed_from_u64(1);
    let (mut held, mut passed_to_the_loop) = (0, 0);
    for _ in 0..ROUNDS {
        let policies = policies();
        let policy = raw(&policies[random.random_range(0..policies.len())]);
        let (document, update) = (raw(&document(&mut random)), raw(&update(&mut random)));
        let parsed = Update::parse(RawBsonRef::Document(&update), None, &Context::new()).unwrap();
        let policy_of = Policy::parse(&namespace("guarded"), &policy).unwrap();
        let table = Table::default().with(policy_of);
        let roles = table.get(&namespace("guarded")).unwrap();
        let Some(one) = roles.as_statement(&update, &parsed).unwrap() else {
            passed_to_the_loop += 1;
            continue;
        };
        let memory = Memory::with_policy("guarded", &policy);
        for collection in ["guarded", "plain"] {
            memory.put(collection, document.clone());
        }
        let filter = one.filter(&raw(&doc! { "_id": 1 }));
        let statement = RawBsonRef::Document(&one.update);
        let plain = memory.update("plain", &filter, statement, None).await;
        let Ok(plain) = plain else {
            // What the language refuses, the loop refuses too.
            let looped = RawBsonRef::Document(&update);
            let refused = memory.update("guarded", &raw(&doc! {}), looped, None).await;
            assert_eq!(refused.unwrap_err().code(), plain.unwrap_err().code(), "{update:?}");
            continue;
        };
        if plain.matched == 0 {
            passed_to_the_loop += 1;
            continue;
        }
        held += 1;
        let looped = RawBsonRef::Document(&update);
        let looped = memory.update("guarded", &raw(&doc! {}), looped, None).await;
        let case = format!("{policy:?} {document:?} {update:?} as {one:?}");
        let looped = looped.unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!((looped.matched, looped.modified), (plain.matched, plain.modified), "{case}");
        assert_eq!(memory.documents("guarded"), memory.documents("plain"), "{case}");
    }
    // Neither side may be empty, or nothing was compared.
    assert!(held > ROUNDS / 4 && passed_to_the_loop > ROUNDS / 10, "{held} {passed_to_the_loop}");
}

/// A push far below every bound takes one round trip.
#[test]
fn an_append_under_its_bound_is_one_statement() {
    let update = raw(&doc! { "$push": { "a": 7 } });
    let parsed = Update::parse(RawBsonRef::Document(&update), None, &Context::new()).unwrap();
    let one = |policy: &Document| {
        let policy = Policy::parse(&namespace("c"), &raw(policy)).unwrap();
        let table = Table::default().with(policy);
        table.get(&namespace("c")).unwrap().as_statement(&update, &parsed).unwrap()
    };
    let one_of = |at: usize| one(&policies()[at]);
    let reject = one_of(0).unwrap();
    assert_eq!(reject.update, update);
    assert_eq!(reject.conditions, [raw(&doc! { "a.2": { "$exists": false } })]);
    let drop = one_of(1).unwrap();
    let sliced = doc! { "$push": { "a": { "$each": [7], "$slice": -3_i64 } } };
    assert_eq!((drop.update, drop.conditions.len()), (raw(&sliced), 0));
    assert_eq!(one_of(3).unwrap().conditions.len(), 2);
    assert!(one_of(5).is_none() && one_of(6).is_none() && one_of(7).is_none());
}
