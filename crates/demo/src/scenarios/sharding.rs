//! Collections with shard keys as they are chosen in haste: one that only grows, one where a
//! single value is most of the data, one with five values; and one that is good.
//!
//! They are sharded where the server is a sharded cluster; elsewhere they are collections
//! with an index on the key, whose name says what it is for.

use crate::dates::{YEAR_MS, date};
use crate::hour::commands;
use crate::ids::Ids;
use crate::words::{city, email, person, sentence, street};
use crate::{Collection, Random, Recipe, Scenario};
use bson::{Document, RawDocumentBuf, doc, rawdoc};

pub const SCENARIO: Scenario = Scenario {
    name: "sharding",
    help: "Bad shard keys: one that only grows, one value dominating, five values in all.",
    collections,
    queries,
};

const SPAN_MS: i64 = 2 * YEAR_MS;

const COUNTRIES: &[(u64, &str)] =
    &[(60, "US"), (9, "IN"), (7, "BR"), (6, "DE"), (5, "JP"), (5, "GB"), (4, "NG"), (4, "PT")];

const STATUSES: &[(u64, &str)] =
    &[(70, "closed"), (12, "open"), (9, "waiting"), (6, "assigned"), (3, "new")];

fn collections(recipe: &Recipe) -> Vec<Collection> {
    let accounts = recipe.share(1, 4);
    let parcels = recipe.share(1, 4);
    let tickets = recipe.share(1, 4);
    let shipments = recipe.size.saturating_sub(accounts + parcels + tickets).max(1);
    let ids = |name, count| Ids::new(recipe, name, SPAN_MS, count);
    let account_ids = ids("accounts", accounts);
    let parcel_ids = ids("parcels", parcels);
    let shipment_ids = ids("shipments", shipments);
    let ticket_ids = ids("tickets", tickets);
    vec![
        Collection::new(recipe, "accounts", accounts, move |number, random| {
            account(account_ids, number, random)
        })
        .sharded_by(doc! { "country": 1 }),
        Collection::new(recipe, "parcels", parcels, move |number, random| {
            parcel(parcel_ids, account_ids, number, random)
        })
        .sharded_by(doc! { "accountId": 1, "createdAt": 1 }),
        Collection::new(recipe, "shipments", shipments, move |number, random| {
            shipment(shipment_ids, account_ids, number, random)
        })
        .sharded_by(doc! { "createdAt": 1 }),
        Collection::new(recipe, "tickets", tickets, move |number, random| {
            ticket(ticket_ids, account_ids, number, random)
        })
        .sharded_by(doc! { "status": 1 }),
    ]
}

/// Shipments of an account: the shard key is not in it, so every shard is asked.
fn queries(recipe: &Recipe) -> Vec<Document> {
    let accounts = Ids::new(recipe, "accounts", SPAN_MS, recipe.share(1, 4));
    commands(recipe, "shipments of", 40, |random| {
        let filter = doc! { "accountId": accounts.of(random.below(accounts.count)) };
        doc! { "find": "shipments", "filter": filter, "limit": 20 }
    })
}

fn account(ids: Ids, number: u64, random: &mut Random) -> RawDocumentBuf {
    let name = person(random);
    rawdoc! {
        "_id": ids.of(number),
        "country": random.weighted(COUNTRIES),
        "name": name.as_str(),
        "email": email(&name, number),
        "createdAt": date(ids.moment(number)),
    }
}

fn parcel(ids: Ids, accounts: Ids, number: u64, random: &mut Random) -> RawDocumentBuf {
    rawdoc! {
        "_id": ids.of(number),
        "accountId": accounts.of(random.below(accounts.count)),
        "createdAt": date(ids.moment(number)),
        "weightGrams": random.skewed(100, 30_000) as i32,
    }
}

fn shipment(ids: Ids, accounts: Ids, number: u64, random: &mut Random) -> RawDocumentBuf {
    rawdoc! {
        "_id": ids.of(number),
        "accountId": accounts.of(random.below(accounts.count)),
        "createdAt": date(ids.moment(number)),
        "to": { "street": street(random), "city": city(random) },
        "weightGrams": random.skewed(100, 30_000) as i32,
    }
}

fn ticket(ids: Ids, accounts: Ids, number: u64, random: &mut Random) -> RawDocumentBuf {
    let words = random.between(4, 12);
    rawdoc! {
        "_id": ids.of(number),
        "status": random.weighted(STATUSES),
        "accountId": accounts.of(random.below(accounts.count)),
        "openedAt": date(ids.moment(number)),
        "subject": sentence(random, words),
    }
}
