//! A timeline of everything that happens, three years of it, and counters under the names
//! of months. Some of the services that write it spell a user's id with a capital.

use crate::dates::{DAY_MS, YEAR_MS, date, evenly, month};
use crate::hour::commands;
use crate::ids::Ids;
use crate::{Collection, Random, Recipe, Scenario};
use bson::{Document, RawDocumentBuf, doc, rawdoc};
use value::DocumentWriter;

pub const SCENARIO: Scenario = Scenario {
    name: "events",
    help: "Three years of events in one collection, ids that differ in case, months as keys.",
    collections,
    queries,
};

/// A user for so many events.
const EVENTS_OF_USER: u64 = 20;
const SPAN_MS: i64 = 3 * YEAR_MS;
const CAPITAL_PERCENT: u64 = 3;
const MONTHS: u64 = 36;
const MONTH_MS: i64 = 30 * DAY_MS;

const TYPES: &[(u64, &str)] = &[
    (50, "user.login"),
    (20, "order.created"),
    (15, "payment.processed"),
    (10, "order.shipped"),
    (5, "payment.failed"),
];

fn collections(recipe: &Recipe) -> Vec<Collection> {
    let counters = recipe.share(1, EVENTS_OF_USER);
    let events = recipe.size.saturating_sub(counters).max(1);
    let ids = Ids::new(recipe, "events", SPAN_MS, events);
    let recipe = *recipe;
    vec![
        Collection::new(&recipe, "events", events, move |number, random| {
            event(ids, counters, number, random)
        })
        .with_indexes([
            doc! { "userId": 1, "timestamp": -1 },
            doc! { "type": 1, "timestamp": -1 },
            doc! { "type": 1 },
        ]),
        Collection::new(&recipe, "monthlyCounts", counters, move |number, random| {
            counter(&recipe, number, random)
        }),
    ]
}

/// A user's timeline; and a search of the last month that does not care for case, since the
/// ids do not. Nothing older is ever asked for.
fn queries(recipe: &Recipe) -> Vec<Document> {
    let users = recipe.share(1, EVENTS_OF_USER);
    let month_ago = date(recipe.now.timestamp_millis() - MONTH_MS);
    let timelines = commands(recipe, "timeline", 40, |random| {
        let filter = doc! { "userId": user_id(random.below(users)) };
        doc! { "find": "events", "filter": filter, "sort": { "timestamp": -1 }, "limit": 20 }
    });
    let searches = commands(recipe, "search", 20, |random| {
        let pattern = format!("^{}$", user_id(random.below(users)));
        let user = doc! { "$regex": pattern, "$options": "i" };
        let filter = doc! { "userId": user, "timestamp": { "$gte": month_ago } };
        doc! { "find": "events", "filter": filter, "limit": 20 }
    });
    [timelines, searches].concat()
}

fn user_id(number: u64) -> String {
    format!("user{}", 100 + number)
}

fn event(ids: Ids, users: u64, number: u64, random: &mut Random) -> RawDocumentBuf {
    let kind = random.weighted(TYPES);
    let user = user_id(random.below(users));
    let user = if random.percent(CAPITAL_PERCENT) { user.replace('u', "U") } else { user };
    let amount = random.money(5, 900);
    let data = match kind {
        "user.login" => {
            let [a, b] = [random.below(256), random.between(1, 254)];
            rawdoc! { "ipAddress": format!("192.168.{a}.{b}") }
        }
        "order.created" => rawdoc! { "total": amount, "status": "pending" },
        "order.shipped" => rawdoc! { "carrier": random.pick(&["post", "courier"]) },
        _ => rawdoc! { "amount": amount, "method": random.pick(&["card", "transfer"]) },
    };
    let mut event = rawdoc! {
        "_id": ids.of(number),
        "type": kind,
        "userId": user,
        "timestamp": date(ids.moment(number)),
        "data": data,
    };
    if !kind.starts_with("user.") {
        let order = format!("order{}", random.below(ids.count));
        event.append(bson::cstr!("orderId"), order.as_str());
    }
    event
}

/// A user's events by month, each under a name of its own.
fn counter(recipe: &Recipe, number: u64, random: &mut Random) -> RawDocumentBuf {
    let mut counter = DocumentWriter::resume(rawdoc! { "_id": user_id(number) });
    for past in random.below(MONTHS - 6)..MONTHS {
        let key = month(evenly(recipe, SPAN_MS, past, MONTHS));
        counter.append_i32(&key, random.skewed(1, 400) as i32);
    }
    counter.finish()
}
