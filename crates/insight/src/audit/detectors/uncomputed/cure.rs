//! The computed pattern, as commands: the figures once, and what each write adds to them.

use super::total::{Figure, Total, What};
use crate::audit::facts::literal;
use crate::report::{Cure, member, name, shell};
use bson::Document;
use command::Namespace;
use serde_json::Value;

pub fn of(namespace: &Namespace, total: &Total) -> Cure {
    let command = match &total.what {
        What::Figures(figures) => keep_figures(namespace, total, &kept(figures)),
        What::Length(path, None) => keep_length(namespace, path),
        What::Length(path, Some(lookup)) => keep_joined(namespace, path, lookup),
    };
    Cure::command("computed", command)
}

/// A figure that can be kept as documents come: what it is called, how it is made, and how
/// a write adds to it.
struct Kept {
    name: String,
    made: String,
    /// The operator of an update, and the value; `None` where an expression makes it.
    added: Option<(&'static str, String)>,
}

/// An average cannot be kept, but a sum and a count can.
fn kept(figures: &[Figure]) -> Vec<Kept> {
    let mut all: Vec<Kept> = figures.iter().map(Kept::of).collect();
    let averages = figures.iter().any(|it| it.operator == "$avg");
    if averages && !all.iter().any(|it| it.made == "{$sum: 1}") {
        all.insert(0, Kept::count("count"));
    }
    all
}

impl Kept {
    fn count(name: &str) -> Kept {
        let added = Some(("$inc", "1".to_owned()));
        Kept { name: name.to_owned(), made: "{$sum: 1}".to_owned(), added }
    }

    fn of(figure: &Figure) -> Kept {
        let value = || figure.path().map(|path| member("added", path));
        match &*figure.operator {
            "$count" => Kept::count(&figure.name),
            // A sum of anything but a field counts.
            "$sum" if figure.operand.as_document().is_none() && figure.path().is_none() => {
                Kept::count(&figure.name)
            }
            "$avg" => Kept {
                name: format!("{}_sum", figure.name),
                made: format!("{{$sum: {}}}", figure.operand()),
                added: value().map(|value| ("$inc", value)),
            },
            operator => Kept {
                name: figure.name.clone(),
                made: format!("{{{operator}: {}}}", figure.operand()),
                added: value().map(|value| match operator {
                    "$min" => ("$min", value),
                    "$max" => ("$max", value),
                    _ => ("$inc", value),
                }),
            },
        }
    }
}

/// The collection that figures are kept in.
pub fn kept_in(namespace: &Namespace, total: &Total) -> String {
    let mut parts: Vec<&str> = total.by.iter().map(|path| last(path)).collect();
    parts.extend(total.date.as_ref().map(|_| "hour"));
    let suffix =
        if parts.is_empty() { "totals".to_owned() } else { format!("by_{}", parts.join("_")) };
    format!("{}_{suffix}", namespace.collection)
}

/// The field that the length of an array is kept in.
pub fn length_of(path: &str) -> String {
    format!("{path}_count")
}

fn keep_figures(namespace: &Namespace, total: &Total, kept: &[Kept]) -> String {
    let collection = Value::from(&*namespace.collection);
    let into = Value::from(kept_in(namespace, total));
    let filter = match total.rest.is_empty() {
        true => String::new(),
        false => format!("  {{$match: {}}},\n", shell(&literal(&total.rest))),
    };
    let figures: Vec<String> =
        kept.iter().map(|it| format!("{}: {}", name(&it.name), it.made)).collect();
    let made = id(
        total,
        |path| Value::from(format!("${path}")).to_string(),
        |date| {
            format!("{{$dateTrunc: {{date: {}, unit: \"hour\"}}}}", Value::from(format!("${date}")))
        },
    );
    let added = id(
        total,
        |path| member("added", path),
        |date| {
            let date = member("added", date);
            format!("new Date({date} - {date} % 3600000)")
        },
    );
    format!(
        "db.getCollection({collection}).aggregate([\n{filter}  \
         {{$group: {{_id: {made}, {}}}}},\n  \
         {{$merge: {{into: {into}, whenMatched: \"replace\"}}}}\n\
         ])\n\
         // and with each document that is added, in its transaction:\n\
         const add = added => db.getCollection({into}).updateOne({{_id: {added}}}, {}, {{upsert: true}})",
        figures.join(", "),
        update(kept),
    )
}

/// The `_id` of the kept figures: the field itself where it is one.
fn id(total: &Total, path: impl Fn(&str) -> String, hour: impl Fn(&str) -> String) -> String {
    match (&total.by[..], &total.date) {
        ([], None) => "null".to_owned(),
        ([only], None) => path(only),
        (by, date) => {
            let field = |it: &String| format!("{}: {}", name(&it.replace('.', "_")), path(it));
            let mut fields: Vec<String> = by.iter().map(field).collect();
            fields.extend(date.as_ref().map(|date| format!("hour: {}", hour(date))));
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// `{$inc: {count: 1}, $max: {top: added.temp}}`.
fn update(kept: &[Kept]) -> String {
    let of = |operator: &str| {
        let fields = kept.iter().filter_map(|it| match &it.added {
            Some((with, value)) if *with == operator => {
                Some(format!("{}: {value}", name(&it.name)))
            }
            _ => None,
        });
        let fields: Vec<String> = fields.collect();
        (!fields.is_empty()).then(|| format!("{operator}: {{{}}}", fields.join(", ")))
    };
    let operators: Vec<String> = ["$inc", "$min", "$max"].into_iter().filter_map(of).collect();
    format!("{{{}}}", operators.join(", "))
}

fn keep_length(namespace: &Namespace, path: &str) -> String {
    let collection = Value::from(&*namespace.collection);
    let (field, array) = (name(&length_of(path)), Value::from(format!("${path}")));
    format!(
        "db.getCollection({collection}).updateMany({{}}, [{{$set: {{{field}: {{$size: {{$ifNull: [{array}, []]}}}}}}}}])\n\
         // and with each $push to {}: {{$inc: {{{field}: 1}}}}, with each $pull: {{$inc: {{{field}: -1}}}}",
        name(path),
    )
}

/// The length of what a `$lookup` finds, kept in the document that looks.
fn keep_joined(namespace: &Namespace, path: &str, lookup: &Document) -> String {
    let collection = Value::from(&*namespace.collection);
    let (field, array) = (name(&length_of(path)), Value::from(format!("${path}")));
    let from = lookup.get_document("$lookup").and_then(|it| it.get_str("from")).unwrap_or("");
    format!(
        "db.getCollection({collection}).aggregate([\n  \
         {},\n  \
         {{$project: {{{field}: {{$size: {array}}}}}}},\n  \
         {{$merge: {{into: {collection}, whenMatched: \"merge\", whenNotMatched: \"discard\"}}}}\n\
         ])\n\
         // and with each document that is added to {}: {{$inc: {{{field}: 1}}}}, in its transaction",
        shell(&literal(lookup)),
        name(from),
    )
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
