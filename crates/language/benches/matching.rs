//! How long a filter takes on a document of one kilobyte: the first must stay under a
//! microsecond. `cargo bench -p freeboard-language --bench matching`.

#![expect(clippy::expect_used, reason = "a bench may stop at its own mistakes")]

use bson::{Document, RawDocumentBuf, doc};
use criterion::{Criterion, criterion_group, criterion_main};
use freeboard_language::Context;
use freeboard_language::query::Filter;
use std::hint::black_box;

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).expect("a document")
}

/// A document of one kilobyte.
fn document() -> RawDocumentBuf {
    let mut document = doc! { "_id": bson::oid::ObjectId::new(), "a": 1 };
    for field in 0..23 {
        document.insert(format!("field{field}"), format!("some text of field number {field}"));
    }
    // What the filters look for last stands last: all that is before it is walked over.
    document.insert("b", doc! { "x": 1.5, "y": "text", "c": 7 });
    let document = raw(&document);
    assert!((900..1100).contains(&document.as_bytes().len()), "not a kilobyte");
    document
}

fn matching(criterion: &mut Criterion) {
    let document = document();
    let mut group = criterion.benchmark_group("matching");
    for filter in [
        doc! { "a": 1, "b.c": { "$gt": 5 } },
        doc! { "a": 1 },
        doc! { "b.c": { "$gt": 5 } },
        doc! { "field10": "some text of field number 10" },
        doc! { "a": { "$in": [1, 2, 3, 4, 5, 6, 7, 8] } },
        doc! { "field19": { "$regex": "^some" } },
        doc! { "missing": { "$exists": false } },
    ] {
        let parsed = Filter::parse(&raw(&filter), &Context::new()).expect("a valid filter");
        assert!(parsed.matches(&document).expect("a filter without error"), "{filter}");
        group.bench_function(filter.to_string(), |bencher| {
            bencher.iter(|| black_box(&parsed).matches(black_box(&document)));
        });
    }
    group.finish();
}

criterion_group!(benches, matching);
criterion_main!(benches);
