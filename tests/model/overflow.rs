//! Arrays that overflow, through the whole server: random updates beside the same
//! updates of a plain array, and many clients at once.

use std::collections::BTreeSet;

use bson::{Bson, Document, doc};
use freeboard_tests::served;
use futures::TryStreamExt as _;
use futures::future::try_join_all;
use mongodb::{Client, Collection, Database};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// Crosses threads, unlike the other tests' results.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const STEPS: usize = 120;

async fn database(name: &str) -> Result<Database> {
    let address = served::address().map_err(|error| error.to_string())?;
    let client = Client::with_uri_str(format!("mongodb://{address}/")).await?;
    let database = client.database(&format!("overflow_{name}"));
    database.drop().await?;
    Ok(database)
}

/// A policy that names what counts the array, and shows the head where it says nothing else.
async fn set_policy(database: &Database, mut overflow: Document, max: i32) -> Result<()> {
    overflow.extend(doc! { "count": "aCount", "flag": "aHasOverflow", "pages": "aOverflowPages" });
    overflow.entry("read".to_owned()).or_insert_with(|| "head".into());
    let rule = doc! { "max": max, "on_limit": "overflow", "overflow": overflow };
    let policy = doc! { "arrays": { "a": rule } };
    database.run_command(doc! { "setGrowthPolicy": "c", "policy": policy }).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn random_updates_end_as_on_a_plain_array() -> Result<()> {
    for (seed, keep) in ["oldest", "newest"].into_iter().enumerate() {
        let database = database(keep).await?;
        let overflow = |read: &str| doc! { "into": "p", "page": 4, "keep": keep, "read": read };
        set_policy(&database, overflow("head"), 5).await?;
        let (c, plain) = (database.collection("c"), database.collection("plain"));
        for collection in [&c, &plain] {
            collection.insert_one(doc! { "_id": 1, "a": [] }).await?;
        }
        let mut random = StdRng::seed_from_u64(seed as u64);
        for step in 0..STEPS {
            let expected = array(&plain.find_one(doc! {}).await?);
            let update = loop {
                let update = update(&mut random, expected.len());
                // Refused where the head is read and keeps the newest.
                if keep == "oldest" || !names_number(&update) {
                    break update;
                }
            };
            for collection in [&c, &plain] {
                collection.update_one(doc! { "_id": 1 }, update.clone()).await?;
            }
            let expected = array(&plain.find_one(doc! {}).await?);
            let (skip, limit) = (random.random_range(-9..20), random.random_range(1..30));
            let told = format!("keep {keep}, step {step}: {update}");
            for slice in [Bson::Int32(skip), Bson::Array(vec![skip.into(), limit.into()])] {
                let projection = doc! { "a": { "$slice": slice } };
                let ours = c.find_one(doc! {}).projection(projection.clone()).await?;
                let theirs = plain.find_one(doc! {}).projection(projection).await?;
                assert_eq!(array(&ours), array(&theirs), "{told}");
            }
            check(&database, expected.len(), Bounds { max: 5, page: 4 }, &told).await?;
        }
        let expected = array(&plain.find_one(doc! {}).await?);
        set_policy(&database, overflow("merged"), 5).await?;
        assert_eq!(array(&c.find_one(doc! {}).await?), expected);
        c.delete_one(doc! {}).await?;
        assert_eq!(database.collection::<Document>("p").count_documents(doc! {}).await?, 0);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn random_updates_keep_the_bound_of_the_whole() -> Result<()> {
    const TOTAL: usize = 12;
    let ways = [("oldest", "drop_oldest"), ("newest", "drop_oldest"), ("newest", "reject")];
    for (seed, (keep, on_total)) in ways.into_iter().enumerate() {
        let database = database(&format!("total_{keep}_{on_total}")).await?;
        let overflow = doc! {
            "into": "p", "page": 4, "keep": keep, "read": "merged",
            "total_max": TOTAL as i32, "on_total": on_total,
        };
        set_policy(&database, overflow, 5).await?;
        let (c, plain) = (database.collection("c"), database.collection("plain"));
        for collection in [&c, &plain] {
            collection.insert_one(doc! { "_id": 1, "a": [] }).await?;
        }
        let mut random = StdRng::seed_from_u64(100 + seed as u64);
        for step in 0..2 * STEPS {
            let before = plain.find_one(doc! {}).await?.ok_or("gone")?;
            let update = update(&mut random, array(&Some(before.clone())).len());
            let told = format!("keep {keep}, {on_total}, step {step}: {update}");
            let command =
                doc! { "update": "c", "updates": [{ "q": { "_id": 1 }, "u": update.clone() }] };
            let refused = code(&database, command).await;
            plain.update_one(doc! { "_id": 1 }, update).await?;
            let after = array(&plain.find_one(doc! {}).await?);
            let is_refused = on_total == "reject" && after.len() > TOTAL;
            assert_eq!(refused, is_refused.then_some(121), "{told}");
            if is_refused {
                plain.replace_one(doc! { "_id": 1 }, before).await?;
            } else {
                let cut = doc! { "$each": [], "$slice": -(TOTAL as i32) };
                plain.update_one(doc! { "_id": 1 }, doc! { "$push": { "a": cut } }).await?;
            }
            let expected = array(&plain.find_one(doc! {}).await?);
            assert_eq!(array(&c.find_one(doc! {}).await?), expected, "{told}");
        }
        let verified = database.run_command(doc! { "verifyGrowth": "c" }).await?;
        assert!(verified.get_bool("clean")?, "{verified}");
    }
    Ok(())
}

/// Heads and pages that are kept out of line, since they pass 16 KB.
#[tokio::test(flavor = "multi_thread")]
async fn large_elements_are_kept_as_small_ones_are() -> Result<()> {
    let pad = "x".repeat(300);
    let element = |number: i32| doc! { "v": number, "pad": &pad };
    for keep in ["oldest", "newest"] {
        let database = database(&format!("large_{keep}")).await?;
        let overflow = doc! { "into": "p", "keep": keep, "page": 400, "read": "merged" };
        set_policy(&database, overflow, 100).await?;
        let (c, plain) = (database.collection("c"), database.collection("plain"));
        for collection in [&c, &plain] {
            collection.insert_one(doc! { "_id": 1, "n": 0 }).await?;
        }
        let batch = |from: i32| (from..from + 90).map(element).collect::<Vec<_>>();
        let updates = [
            doc! { "$push": { "a": { "$each": batch(0) } } },
            doc! { "$inc": { "n": 1 } },
            doc! { "$push": { "a": { "$each": batch(90) } }, "$inc": { "n": 1 } },
            doc! { "$push": { "a": element(180) } },
            doc! { "$inc": { "n": 1 } },
            doc! { "$push": { "a": { "$each": batch(181) } } },
            doc! { "$pull": { "a": { "v": { "$in": [3, 99, 100, 150, 270] } } } },
            doc! { "$pop": { "a": 1 }, "$set": { "s": "text" } },
            doc! { "$pop": { "a": -1 } },
            doc! { "$set": { "a.5.v": -5, "a.120.v": -120, "a.200.pad": pad.repeat(3) } },
            doc! { "$inc": { "a.$[].v": 1 } },
            doc! { "$addToSet": { "a": { "v": 1 } } },
            doc! { "$push": { "a": { "$each": [element(-1)], "$position": 50 } } },
            doc! { "$unset": { "s": 1 }, "$push": { "a": element(500) } },
        ];
        for update in updates {
            let mut modified = Vec::new();
            for collection in [&c, &plain] {
                let done = collection.update_one(doc! { "_id": 1 }, update.clone()).await?;
                modified.push(done.modified_count);
            }
            let mut told = format!("keep {keep}: {update}");
            told.truncate(100);
            assert_eq!(modified[0], modified[1], "{told}");
            let whole = doc! { "a": { "$slice": 10_000 } };
            let ours = c.find_one(doc! {}).projection(whole).await?.ok_or("gone")?;
            let theirs = plain.find_one(doc! {}).await?.ok_or("gone")?;
            assert!(array(&Some(ours.clone())) == array(&Some(theirs.clone())), "{told}");
            assert_eq!((ours.get("n"), ours.get("s")), (theirs.get("n"), theirs.get("s")));
            let last = doc! { "a": { "$slice": [-3, 2] } };
            let ours = c.find_one(doc! {}).projection(last.clone()).await?;
            assert_eq!(array(&ours), array(&plain.find_one(doc! {}).projection(last).await?));
        }
        let reply = database.run_command(doc! { "validate": "c", "full": true }).await?;
        assert!(reply.get_bool("valid")?, "{reply}");
        let reply = database.run_command(doc! { "validate": "p", "full": true }).await?;
        assert!(reply.get_bool("valid")?, "{reply}");
        let sizes = [doc! { "$project": { "n": { "$bsonSize": "$$ROOT" } } }];
        let mut pages = database.collection::<Document>("p").aggregate(sizes).await?;
        while let Some(page) = pages.try_next().await? {
            assert!(page.get_i32("n")? as usize <= PAGE_BYTES, "{page}");
        }
    }
    Ok(())
}

fn array(document: &Option<Document>) -> Vec<Bson> {
    let array = document.as_ref().and_then(|document| document.get_array("a").ok());
    array.cloned().unwrap_or_default()
}

/// Whether an update names elements by their numbers.
fn names_number(update: &Document) -> bool {
    let fields = update.values().filter_map(Bson::as_document).flat_map(Document::keys);
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
    fields.into_iter().any(|path| path.split('.').any(is_number))
}

fn update(random: &mut StdRng, len: usize) -> Document {
    let value = random.random_range(0..15);
    let at = random.random_range(0..len.max(1));
    match random.random_range(0..12) {
        0..=4 => doc! { "$push": { "a": value } },
        5 => {
            doc! { "$push": { "a": { "$each": (0..random.random_range(0..12)).collect::<Vec<_>>() } } }
        }
        6 => doc! { "$pull": { "a": value } },
        7 => doc! { "$pop": { "a": if value % 2 == 0 { 1 } else { -1 } } },
        8 => doc! { "$addToSet": { "a": value } },
        9 => doc! { "$set": { format!("a.{at}"): value } },
        10 => doc! { "$push": { "a": { "$each": [value], "$position": at as i32 } } },
        _ => doc! { "$mul": { "a.$[]": 1 }, "$inc": { "aCount": 3 } },
    }
}

/// The largest that a head and a page may be under the policies so far.
#[derive(Clone, Copy)]
struct Bounds {
    max: usize,
    page: usize,
}

/// A page weighs no more where the policy does not say what it may.
const PAGE_BYTES: usize = 32 * 1024;

/// Counters and bounds.
async fn check(database: &Database, count: usize, bounds: Bounds, told: &str) -> Result<()> {
    let c: Collection<Document> = database.collection("c");
    let head = c.find_one(doc! {}).await?.ok_or("the document is gone")?;
    let pages: Vec<Document> = database
        .collection("p")
        .find(doc! {})
        .sort(doc! { "page": 1 })
        .await?
        .try_collect()
        .await?;
    assert_eq!(head.get_i32("aCount")? as usize, count, "{told}");
    assert_eq!(head.get_bool("aHasOverflow").unwrap_or(false), !pages.is_empty(), "{told}");
    assert_eq!(head.get_i32("aOverflowPages").unwrap_or(0) as usize, pages.len(), "{told}");
    let mut sum = head.get_array("a")?.len();
    assert!(sum <= bounds.max, "{told}: the head has {sum} elements");
    for page in &pages {
        let items = page.get_array("a")?.len();
        assert_eq!(page.get_i32("count")? as usize, items, "{told}");
        assert!((1..=bounds.page).contains(&items), "{told}: a page has {items} elements");
        let bytes = bson::serialize_to_vec(page)?.len();
        assert!(bytes <= PAGE_BYTES, "{told}: a page has {bytes} bytes");
        sum += items;
    }
    assert_eq!(sum, count, "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn many_clients_push_to_one_document() -> Result<()> {
    const CLIENTS: i32 = 16;
    const PUSHES: i32 = 40;
    for keep in ["oldest", "newest"] {
        let database = database(&format!("many_{keep}")).await?;
        set_policy(&database, doc! { "into": "p", "page": 50, "keep": keep }, 30).await?;
        let c: Collection<Document> = database.collection("c");
        c.insert_one(doc! { "_id": 1, "a": [] }).await?;
        let pushers = (0..CLIENTS).map(|client| {
            let c = c.clone();
            tokio::spawn(async move {
                for number in 0..PUSHES {
                    let mark = doc! { "client": client, "number": number };
                    c.update_one(doc! { "_id": 1 }, doc! { "$push": { "a": mark } }).await?;
                }
                Ok::<_, mongodb::error::Error>(())
            })
        });
        for pushed in try_join_all(pushers).await? {
            pushed?;
        }
        let bounds = Bounds { max: 30, page: 50 };
        check(&database, (CLIENTS * PUSHES) as usize, bounds, keep).await?;
        let whole = doc! { "a": { "$slice": 10_000 } };
        let all = array(&c.find_one(doc! {}).projection(whole).await?);
        let mut last = vec![-1; CLIENTS as usize];
        for mark in all.iter().filter_map(Bson::as_document) {
            let (client, number) = (mark.get_i32("client")?, mark.get_i32("number")?);
            assert!(last[client as usize] < number, "in the order in which they were pushed");
            last[client as usize] = number;
        }
        let distinct: BTreeSet<String> = all.iter().map(|mark| mark.to_string()).collect();
        assert_eq!((all.len(), distinct.len()), ((CLIENTS * PUSHES) as usize, all.len()));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_change_while_others_write() -> Result<()> {
    let database = database("change").await?;
    let c: Collection<Document> = database.collection("c");
    c.insert_one(doc! { "_id": 1, "a": [] }).await?;
    let pushers = (0..8).map(|client| {
        let c = c.clone();
        tokio::spawn(async move {
            for number in 0..30 {
                let mark = format!("{client}-{number}");
                c.update_one(doc! { "_id": 1 }, doc! { "$push": { "a": mark } }).await?;
            }
            Ok::<_, mongodb::error::Error>(())
        })
    });
    let pushers: Vec<_> = pushers.collect();
    let mut bounds = Bounds { max: 0, page: 0 };
    for round in 0..6 {
        bounds = Bounds { max: 5 + round, page: 10 + round };
        let (max, page) = (bounds.max as i32, bounds.page as i32);
        set_policy(&database, doc! { "into": "p", "page": page }, max).await?;
    }
    for pushed in try_join_all(pushers).await? {
        pushed?;
    }
    check(&database, 240, bounds, "changed").await?;
    let whole = doc! { "a": { "$slice": 10_000 } };
    let all = array(&c.find_one(doc! {}).projection(whole).await?);
    let distinct: BTreeSet<String> = all.iter().map(|mark| mark.to_string()).collect();
    assert_eq!(distinct.len(), 240);
    Ok(())
}

/// The code of the error that a command fails with.
async fn code(database: &Database, command: Document) -> Option<i32> {
    match database.run_command(command).await {
        Ok(reply) => {
            let errors = reply.get_array("writeErrors").ok()?;
            errors.first()?.as_document()?.get_i32("code").ok()
        }
        Err(error) => match *error.kind {
            mongodb::error::ErrorKind::Command(error) => Some(error.code),
            _ => None,
        },
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_walks_over_pages_end_and_arrays_of_any_length_can_be_cleared() -> Result<()> {
    const ELEMENTS: i32 = 200_000;
    let database = database("long").await?;
    set_policy(&database, doc! { "into": "p", "page": 500, "read": "merged" }, 10).await?;
    let c: Collection<Document> = database.collection("c");
    c.insert_one(doc! { "_id": 1, "a": [] }).await?;
    for from in (0..ELEMENTS).step_by(50_000) {
        let each: Vec<i32> = (from..from + 50_000).collect();
        let push = doc! { "$push": { "a": { "$each": each } } };
        c.update_one(doc! { "_id": 1 }, push).await?;
    }
    let update = |update: Document, more: Document| {
        let mut command = doc! { "update": "c", "updates": [{ "q": { "_id": 1 }, "u": update }] };
        command.extend(more);
        command
    };
    let pull = doc! { "$pull": { "a": { "$lt": -1 } } };
    assert_eq!(code(&database, update(pull, doc! { "maxTimeMS": 1 })).await, Some(50));
    // It would have to be compared with what is there.
    let set = |array: Vec<i32>| update(doc! { "$set": { "a": array } }, doc! {});
    assert_eq!(code(&database, set(vec![1])).await, Some(146));
    let most = doc! { "$pull": { "a": { "$gte": 10, "$ne": 150_000 } } };
    assert_eq!(code(&database, update(most, doc! {})).await, None);
    let mut left: Vec<i32> = (0..10).collect();
    left.push(150_000);
    let left = doc! {
        "_id": 1, "a": left, "aCount": 11, "aHasOverflow": true, "aOverflowPages": 1,
    };
    assert_eq!(c.find_one(doc! {}).await?, Some(left));
    let each: Vec<i32> = (0..ELEMENTS / 2).collect();
    c.update_one(doc! { "_id": 1 }, doc! { "$push": { "a": { "$each": each } } }).await?;
    assert_eq!(code(&database, set(vec![])).await, None);
    assert_eq!(c.find_one(doc! {}).await?, Some(doc! { "_id": 1, "a": [], "aCount": 0 }));
    assert_eq!(database.collection::<Document>("p").count_documents(doc! {}).await?, 0);
    Ok(())
}
