//! How long a filter takes on a document of one kilobyte. `cargo bench -p
//! freeboard-language --bench matching`.

#![expect(clippy::expect_used, reason = "a bench may stop at its own mistakes")]

use bson::{RawDocumentBuf, doc};
use freeboard_language::Context;
use freeboard_language::query::Filter;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: u32 = 1_000_000;

fn main() {
    let mut document = doc! { "_id": bson::oid::ObjectId::new(), "a": 1 };
    for field in 0..20 {
        document.insert(format!("field{field}"), format!("some text of field number {field}"));
    }
    document.insert("b", doc! { "x": 1.5, "y": "text", "c": 7 });
    let document = RawDocumentBuf::try_from(&document).expect("a document");
    println!("document of {} bytes", document.as_bytes().len());
    for filter in [
        doc! { "a": 1, "b.c": { "$gt": 5 } },
        doc! { "a": 1 },
        doc! { "b.c": { "$gt": 5 } },
        doc! { "field10": "some text of field number 10" },
        doc! { "a": { "$in": [1, 2, 3, 4, 5, 6, 7, 8] } },
        doc! { "field19": { "$regex": "^some" } },
        doc! { "missing": { "$exists": false } },
    ] {
        let raw = RawDocumentBuf::try_from(&filter).expect("a filter");
        let parsed = Filter::parse(&raw, &Context::new()).expect("a valid filter");
        let start = Instant::now();
        let mut matched = 0;
        for _ in 0..ROUNDS {
            matched += u32::from(black_box(&parsed).matches(black_box(&document)).is_ok_and(|m| m));
        }
        let nanos = start.elapsed().as_nanos() / u128::from(ROUNDS);
        println!("{nanos:>6} ns  {filter}  ({matched} of {ROUNDS} match)");
    }
}
