//! A collection for each customer, all of the same shape, each with three indexes.

use crate::dates::{YEAR_MS, date};
use crate::hour::commands;
use crate::ids::Ids;
use crate::words::{company, person};
use crate::{Collection, Random, Recipe, Scenario};
use bson::{Document, RawArrayBuf, RawDocumentBuf, doc, rawdoc};

pub const SCENARIO: Scenario = Scenario {
    name: "tenants",
    help: "A collection of orders for each customer, where one would do.",
    collections,
    queries,
};

/// A tenant for so many documents, and at least and at most so many.
const DOCUMENTS_OF_TENANT: u64 = 25;
const TENANTS: (u64, u64) = (5, 1_500);
const SPAN_MS: i64 = 2 * YEAR_MS;

fn collections(recipe: &Recipe) -> Vec<Collection> {
    let counts = counts(recipe.size);
    let tenant = |(number, count): (u64, u64)| {
        let name = format!("customer_{}_orders", company(number));
        let ids = Ids::new(recipe, &name, SPAN_MS, count);
        Collection::new(recipe, name, count, move |number, random| order(ids, number, random))
            .with_indexes([
                doc! { "orderDate": -1 },
                doc! { "status": 1, "orderDate": -1 },
                doc! { "customerName": 1 },
            ])
    };
    (0..).zip(counts).map(tenant).collect()
}

/// The open orders of a tenant.
fn queries(recipe: &Recipe) -> Vec<Document> {
    let tenants = counts(recipe.size).len() as u64;
    commands(recipe, "open orders", 40, |random| {
        let name = format!("customer_{}_orders", company(random.below(tenants)));
        let filter = doc! { "status": "processing" };
        doc! { "find": name, "filter": filter, "sort": { "orderDate": -1 }, "limit": 20 }
    })
}

/// How many documents each tenant has: one each, and of the rest the second half as many as
/// the first, the third a third, and so on.
fn counts(size: u64) -> Vec<u64> {
    let tenants = (size / DOCUMENTS_OF_TENANT).clamp(TENANTS.0, TENANTS.1);
    let rest = size.saturating_sub(tenants);
    let weight = |number: u64| 1_000_000 / (number + 1);
    let weights: u64 = (0..tenants).map(weight).sum();
    let part =
        |number| (u128::from(rest) * u128::from(weight(number)) / u128::from(weights)) as u64;
    let mut counts: Vec<u64> = (0..tenants).map(|number| 1 + part(number)).collect();
    let given: u64 = counts.iter().sum();
    if let Some(first) = counts.first_mut() {
        *first += size.saturating_sub(given);
    }
    counts
}

fn order(ids: Ids, number: u64, random: &mut Random) -> RawDocumentBuf {
    let mut items = RawArrayBuf::new();
    for _ in 0..random.skewed(1, 6) {
        items.push(rawdoc! {
            "sku": format!("SKU-{:04}", random.below(5_000)),
            "quantity": random.skewed(1, 9) as i32,
            "price": random.money(3, 900),
        });
    }
    rawdoc! {
        "_id": ids.of(number),
        "customerName": person(random),
        "status": random.weighted(&[(70, "delivered"), (20, "shipped"), (10, "processing")]),
        "orderDate": date(ids.moment(number)),
        "items": items,
        "total": random.money(10, 4_000),
    }
}
