//! A time series that is stored one document a reading: small documents with a date, the
//! name of a source that has many of them, and figures.
//!
//! What tells readings from orders and other small documents with a date is how close they
//! follow each other: a bucket pays where it holds many.

use super::Subject;
use crate::audit::census::{Cardinality, Dates, Node, Tree};
use crate::figures::{bytes, counted};
use crate::report::{Cure, Finding, Severity};
use bson::spec::ElementType;
use serde_json::{Value, json};

const MILLIS_A_SECOND: f64 = 1_000.0;
/// Readings that a bucket should hold at most.
const BUCKET_READINGS_MAX: f64 = 1_000.0;
/// Fields of figures that are named, and those of which a bucket has statistics.
const FIGURES_MAX: usize = 8;
const STATISTICS_MAX: usize = 4;
/// The spans of a bucket, in seconds, the longest first.
const SPANS: &[(f64, &str)] =
    &[(86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second")];

/// What readings come from, as fields are called.
const SOURCES: &[&str] = &[
    "device", "host", "instance", "machine", "meter", "metric", "node", "probe", "sensor",
    "series", "source", "station", "symbol", "ticker", "vehicle",
];

/// The parts of a reading, and what they tell.
struct Series<'a> {
    time: String,
    dates: &'a Dates,
    source: String,
    sources: u64,
    figures: Vec<String>,
    /// Readings in all.
    readings: u64,
    /// Seconds between two readings of a source.
    interval: f64,
}

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    series(subject).map(|series| judge(subject, &series)).into_iter().collect()
}

fn series<'a>(subject: &Subject<'a>) -> Option<Series<'a>> {
    let thresholds = &subject.thresholds.bucket_candidate;
    let census = subject.census;
    let readings =
        (census.documents() as f64 * subject.collection.scale(census.documents())) as u64;
    let small = census.sizes.mean() <= thresholds.document_bytes as f64;
    let plain = subject.collection.kind.grows() && census.arrays().is_empty();
    if readings < thresholds.documents || !small || !plain {
        return None;
    }
    let (time, dates) =
        usual(subject).find_map(|(path, node)| Some((path, node.dates.as_deref()?)))?;
    let (source, sources) = source(subject)?;
    let figures: Vec<String> = usual(subject)
        .filter(|(path, node)| is_figure(node) && *path != source)
        .map(|(path, _)| path)
        .collect();
    let span = dates.span.to.saturating_sub(dates.span.from).max(0) as f64 / MILLIS_A_SECOND;
    let interval = span * sources as f64 / readings as f64;
    let dense = span >= thresholds.span_seconds
        && readings / sources.max(1) >= thresholds.documents_per_source
        && interval <= thresholds.interval_seconds;
    (dense && !figures.is_empty()).then_some(Series {
        time,
        dates,
        source,
        sources,
        figures,
        readings,
        interval,
    })
}

/// The fields that nearly every document has.
fn usual<'a>(subject: &Subject<'a>) -> impl Iterator<Item = (String, &'a Node)> {
    let tree: &'a Tree = &subject.census.tree;
    let share = subject.thresholds.bucket_candidate.field_share;
    let enough = subject.census.documents() as f64 * share;
    let usual = tree.nodes().filter(move |(_, node)| node.count as f64 >= enough && !node.in_array);
    usual.map(|(id, node)| (tree.path(id), node))
}

/// The field that names the source: of those with many readings for each value, the one with
/// the most values. Its name says that it names something: a status has many readings for
/// each value, too.
fn source(subject: &Subject<'_>) -> Option<(String, u64)> {
    let known = |values: &Cardinality| {
        let distinct = values.distinct();
        // In a sample every value must have been met again, or there may be any number.
        (distinct > 0 && distinct * 2 <= values.count()).then_some(distinct)
    };
    usual(subject)
        .filter(|(_, node)| node.identifies || is_source(&node.key))
        .filter_map(|(path, node)| Some((path, known(node.distinct.as_deref()?)?)))
        .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
}

/// Whether a name is one of what makes readings.
fn is_source(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    SOURCES.iter().any(|source| lower.ends_with(source))
}

/// Whether all values are numbers that name nothing.
fn is_figure(node: &Node) -> bool {
    let numbers =
        [ElementType::Int32, ElementType::Int64, ElementType::Double, ElementType::Decimal128];
    node.is_of(&numbers) && !node.identifies && *node.key != *"_id"
}

fn judge(subject: &Subject<'_>, series: &Series<'_>) -> Finding {
    let thresholds = &subject.thresholds.bucket_candidate;
    let many = series.readings >= thresholds.warn_documents;
    let severity = if many { Severity::Warn } else { Severity::Info };
    let mean = subject.census.sizes.mean();
    let (_, unit) = span(series.interval);
    let (sources, readings) = (series.sources, series.readings);
    let summary = format!(
        "{} of {} ('{}'), one document each: {} on average, every {} by '{}'.",
        counted(readings, "reading"),
        counted(sources, "source"),
        series.source,
        bytes(mean as u64),
        seconds(series.interval),
        series.time,
    );
    let date = |millis: i64| jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    Finding::new(severity, &subject.collection.namespace, summary, bucket(subject, series))
        .path(series.time.clone())
        .examples(series.figures.iter().take(FIGURES_MAX).map(|path| json!(path)))
        .figure("readings", readings)
        .figure("source", json!(series.source))
        .figure("sources", sources)
        .figure("readings_per_source", readings / sources.max(1))
        .figure("interval_seconds", (series.interval * 1000.0).round() / 1000.0)
        .figure("document_bytes", mean.round())
        .figure("bucket", json!(unit))
        .figure("from", date(series.dates.span.from).to_string())
        .figure("to", date(series.dates.span.to).to_string())
}

/// The longest span whose readings fit into a bucket.
fn span(interval: f64) -> (f64, &'static str) {
    let fits = |span: &&(f64, &str)| span.0 <= interval * BUCKET_READINGS_MAX;
    SPANS.iter().find(fits).or(SPANS.last()).copied().unwrap_or((1.0, "second"))
}

/// `10 s`, `5 minutes`.
fn seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * MILLIS_A_SECOND),
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds => format!("{:.0} minutes", seconds / 60.0),
    }
}

/// What groups the readings into buckets beside, with their count and the statistics of some
/// figures. A reading keeps all its fields but those that the bucket has.
fn bucket(subject: &Subject<'_>, series: &Series<'_>) -> Cure {
    let name = &*subject.collection.namespace.collection;
    let (_, unit) = span(series.interval);
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let text = |text: &str| Value::from(text).to_string();
    let (from, into) = (text(name), text(&subject.free_name(&format!("{name}Buckets"))));
    let field = |path: &str| text(&format!("${path}"));
    let stats = series.figures.iter().take(STATISTICS_MAX).map(|path| {
        let stat = |end: &str, stat: &str| {
            format!("{}: {{{stat}: {}}}", text(&(last(path) + end)), field(path))
        };
        format!(",\n    {}, {}, {}", stat("Min", "$min"), stat("Max", "$max"), stat("Sum", "$sum"))
    });
    let command = format!(
        "if (db.getCollection({into}).findOne()) throw new Error({into} + \" is there already: readings would \
         take the place of those in it. Audit again.\");\n\
         db.getCollection({}).aggregate([\n  \
         {{$group: {{_id: {{{}: {}, from: {{$dateTrunc: {{date: {}, unit: \"{unit}\"}}}}}},\n    \
         count: {{$sum: 1}}, readings: {{$push: \"$$ROOT\"}}{}}}}},\n  \
         {{$unset: [\"readings._id\", {}]}},\n  \
         {{$merge: {{into: {into}, whenMatched: \"fail\"}}}}\n], {{allowDiskUse: true}});\n\
         // and when the application reads and writes buckets, if all readings are in them:\n\
         const all = db.getCollection({into}).aggregate([{{$group: {{_id: null, n: {{$sum: \"$count\"}}}}}}]).next();\n\
         if (all && all.n >= db.getCollection({from}).countDocuments({{}})) db.getCollection({from}).drop()",
        from,
        text(&last(&series.source)),
        field(&series.source),
        field(&series.time),
        stats.collect::<String>(),
        text(&format!("readings.{}", series.source)),
    );
    Cure::script("bucket", &command)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, NOW};
    use super::*;
    use crate::report::Remedy;
    use bson::{DateTime, RawDocumentBuf, rawdoc};

    /// Readings of ten sensors in turn, each every so many seconds.
    fn readings(count: i64, interval: i64) -> impl Iterator<Item = RawDocumentBuf> {
        (0..count).map(move |number| {
            let at = DateTime::from_millis(NOW - number / 10 * interval * 1000);
            rawdoc! {
                "_id": number,
                "sensorId": format!("s{}", number % 10),
                "site": if number % 10 < 5 { "dam" } else { "weir" },
                "ts": at,
                "temp": 20.0 + (number % 9) as f64,
                "rounds": number as i32,
            }
        })
    }

    #[test]
    fn one_document_a_reading_is_found() {
        let findings = Fixture::new(readings(2_000, 10)).look(look);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert_eq!((finding.severity, finding.path.as_deref()), (Severity::Info, Some("ts")));
        let figures = &finding.evidence.figures;
        assert_eq!((&figures["source"], &figures["sources"]), (&json!("sensorId"), &json!(10)));
        assert_eq!(finding.evidence.examples, [json!("temp"), json!("rounds")]);
        let interval = figures["interval_seconds"].as_f64().unwrap();
        assert!((9.0..=10.0).contains(&interval), "{interval}");
        // 360 readings fit into an hour, 8,640 do not fit into a day.
        assert_eq!(figures["bucket"], json!("hour"));
        let Remedy::Command(command) = &finding.cure.remedy else { panic!() };
        assert!(command.contains(r#"{"sensorId": "$sensorId", from: {$dateTrunc"#), "{command}");
        let many = Fixture::new(readings(10_000, 10)).look(look);
        assert_eq!(many[0].severity, Severity::Warn);
    }

    #[test]
    fn what_only_looks_like_it_is_not() {
        // Every two hours; too few; all of one moment, as what is made by a loop.
        assert!(Fixture::new(readings(2_000, 0)).look(look).is_empty());
        assert!(Fixture::new(readings(2_000, 7_200)).look(look).is_empty());
        assert!(Fixture::new(readings(99, 10)).look(look).is_empty());
        let change = |change: fn(&mut bson::Document, i64)| {
            let documents = readings(2_000, 10).zip(0..).map(move |(raw, number)| {
                let mut document = bson::Document::try_from(&*raw).unwrap();
                change(&mut document, number);
                RawDocumentBuf::try_from(&document).unwrap()
            });
            Fixture::new(documents).look(look)
        };
        assert_eq!(change(|_, _| {}).len(), 1);
        // No figures, no date, large, an array, a source for each.
        assert!(change(|it, _| drop((it.remove("temp"), it.remove("rounds")))).is_empty());
        assert!(change(|it, _| drop(it.remove("ts"))).is_empty());
        assert!(change(|it, _| drop(it.insert("text", "x".repeat(2_000)))).is_empty());
        assert!(change(|it, _| drop(it.insert("tags", vec!["a"]))).is_empty());
        let each = |it: &mut bson::Document, number: i64| {
            it.insert("sensorId", format!("s{number}"));
            it.remove("site");
        };
        assert!(change(each).is_empty());
        // A status is no source, however many readings each has.
        let status = |it: &mut bson::Document, number: i64| {
            it.remove("sensorId");
            it.remove("site");
            it.insert("status", ["new", "paid", "sent"][number as usize % 3]);
        };
        assert!(change(status).is_empty());
    }
}
