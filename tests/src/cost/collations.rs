//! Long texts under a collation: numbers, contractions and runs of combining marks, which the
//! collator must see as a whole.

use super::Row;
use super::case::{COLLECTION, Case};
use bson::{Bson, Document, doc};

pub const ROWS: &[Row] = &[
    Row::new("digits", 40_000, 800_000, |n| compared(&"1".repeat(n))),
    Row::new("letters that may be one", 40_000, 800_000, |n| compared(&"c".repeat(n))),
    Row::new("letters", 40_000, 800_000, |n| compared(&"ab".repeat(n / 2))),
    Row::new("marks of one class", 40_000, 800_000, |n| compared(&marks("\u{301}", n))),
    Row::new("marks of two classes", 40_000, 800_000, |n| compared(&marks("\u{301}\u{323}", n))),
    Row::new("marks that are no diacritics", 40_000, 800_000, |n| compared(&marks("\u{20d0}", n))),
    Row::new("marks with nothing before them", 40_000, 800_000, |n| {
        let text = "\u{301}".repeat(n / 2);
        Case::new(vec![doc! { "t": &text }], found(&text))
    }),
    Row::new("a sort of marks", 40_000, 800_000, |n| {
        let all = vec![doc! { "t": marks("\u{301}\u{323}", n) }, doc! { "t": 1 }];
        let command = doc! { "find": COLLECTION, "sort": { "t": 1 }, "projection": { "_id": 1 } };
        Case::new(all, collated(command))
    }),
    Row::new("a set of digits", 40_000, 200_000, |n| {
        let set = doc! { "$setUnion": [["$t", "$u"], ["$u", "$t"]] };
        two(&"1".repeat(n), doc! { "n": { "$size": set } })
    }),
    Row::new("a list of digits", 40_000, 200_000, |n| {
        let text = "1".repeat(n);
        let list: Vec<Bson> = (0..4).map(|at| format!("{text}{at}").into()).collect();
        let filter = doc! { "t": { "$in": list } };
        Case::new(vec![doc! { "t": format!("{text}9") }], collated(find(filter)))
    }),
];

/// A text that two others begin with, which are then compared with each other.
fn compared(text: &str) -> Case {
    Case::new(vec![doc! { "t": format!("{text}1") }], found(&format!("{text}2")))
}

fn found(least: &str) -> Document {
    collated(find(doc! { "t": { "$gt": least } }))
}

fn two(text: &str, project: Document) -> Case {
    let document = doc! { "t": format!("{text}1"), "u": format!("{text}2") };
    let command = doc! {
        "aggregate": COLLECTION, "pipeline": [{ "$project": project }], "cursor": {},
    };
    Case::new(vec![document], collated(command))
}

fn find(filter: Document) -> Document {
    doc! { "find": COLLECTION, "filter": filter, "projection": { "_id": 1 } }
}

fn collated(mut command: Document) -> Document {
    command.insert("collation", doc! { "locale": "cs", "numericOrdering": true });
    command
}

/// A letter with marks, of so many bytes.
fn marks(marks: &str, bytes: usize) -> String {
    format!("a{}", marks.repeat(bytes / marks.len()))
}
