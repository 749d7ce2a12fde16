//! Sensors that store one document a reading, and devices that keep a total under every
//! day's name.

use crate::dates::{DAY_MS, HOUR_MS, SECOND_MS, YEAR_MS, date, day};
use crate::hour::commands;
use crate::ids::Ids;
use crate::{Collection, Random, Recipe, Scenario};
use bson::{Document, RawDocumentBuf, doc, rawdoc};
use value::DocumentWriter;

pub const SCENARIO: Scenario = Scenario {
    name: "sensors",
    help: "One document a reading, every ten seconds; totals under the names of days.",
    collections,
    queries,
};

/// A device for so many readings, and no more than so many.
const READINGS_OF_DEVICE: u64 = 200;
const DEVICES_MAX: u64 = 1_000;
const INTERVAL_MS: i64 = 10 * SECOND_MS;
const DAYS_KEPT: (u64, u64) = (30, 365);

fn collections(recipe: &Recipe) -> Vec<Collection> {
    let devices = devices(recipe);
    let readings = recipe.size.saturating_sub(devices).max(1);
    let rounds = readings.div_ceil(devices);
    let ids = Ids::new(recipe, "readings", rounds as i64 * INTERVAL_MS, readings);
    let recipe = *recipe;
    vec![
        Collection::new(&recipe, "devices", devices, move |number, random| {
            device(&recipe, number, random)
        }),
        Collection::new(&recipe, "readings", readings, move |number, random| {
            reading(&recipe, ids, devices, rounds, number, random)
        })
        .with_indexes([doc! { "sensorId": 1, "ts": 1 }, doc! { "ts": 1 }]),
    ]
}

fn devices(recipe: &Recipe) -> u64 {
    (recipe.size / READINGS_OF_DEVICE).clamp(1, DEVICES_MAX)
}

/// The mean of a sensor's last hour, again and again.
fn queries(recipe: &Recipe) -> Vec<Document> {
    let devices = devices(recipe);
    let since = date(recipe.now.timestamp_millis() - HOUR_MS);
    commands(recipe, "mean", 60, |random| {
        let filter = doc! { "sensorId": sensor_id(random.below(devices)), "ts": { "$gte": since } };
        let mean = doc! { "_id": "$sensorId", "temp": { "$avg": "$temp" } };
        let pipeline = [doc! { "$match": filter }, doc! { "$group": mean }];
        doc! { "aggregate": "readings", "pipeline": pipeline, "cursor": {} }
    })
}

fn sensor_id(number: u64) -> String {
    format!("SENSOR-{:04}", 1_000 + number)
}

fn device(recipe: &Recipe, number: u64, random: &mut Random) -> RawDocumentBuf {
    let now = recipe.now.timestamp_millis();
    let start = rawdoc! {
        "_id": sensor_id(number),
        "site": random.pick(&["dam", "harbour", "lock", "weir"]),
        "model": random.pick(&["TH-100", "TH-200"]),
        "firmware": format!("2.{}.{}", random.below(9), random.below(20)),
        "installedAt": date(now - random.between(1, 3) as i64 * YEAR_MS),
    };
    let mut device = DocumentWriter::resume(start);
    device.begin_document("daily");
    for days in (0..random.between(DAYS_KEPT.0, DAYS_KEPT.1) as i64).rev() {
        device.begin_document(&day(now - days * DAY_MS));
        device.append_i32("count", random.between(8_000, 8_640) as i32);
        device.append_f64("tempMax", tenth(random.near(24.0, 6.0)));
        device.end();
    }
    device.end();
    device.finish()
}

/// The devices report in turn, each every ten seconds.
fn reading(
    recipe: &Recipe,
    ids: Ids,
    devices: u64,
    rounds: u64,
    number: u64,
    random: &mut Random,
) -> RawDocumentBuf {
    let device = number % devices;
    let before_now = (rounds - 1 - number / devices) as i64 * INTERVAL_MS;
    let at = recipe.now.timestamp_millis() - before_now;
    let warmth = day_curve(at);
    rawdoc! {
        "_id": ids.of(number),
        "sensorId": sensor_id(device),
        "ts": date(at),
        "temp": tenth(random.near(18.0 + 6.0 * warmth + (device % 7) as f64 / 2.0, 1.0)),
        "humidity": tenth(random.near(60.0 - 20.0 * warmth, 3.0)),
    }
}

/// From 0 at midnight to 1 at noon and back.
fn day_curve(ms: i64) -> f64 {
    let passed = ms.rem_euclid(DAY_MS) as f64 / DAY_MS as f64;
    4.0 * passed * (1.0 - passed)
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
