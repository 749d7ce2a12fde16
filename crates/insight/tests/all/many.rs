//! A database of a thousand collections.

use crate::place::Place;
use crate::proxy::{Proxy, Turn};
use bson::{RawDocumentBuf, rawdoc};
use freeboard_insight::audit::{Budget, Options, Reach};
use futures::{StreamExt, TryStreamExt, stream};
use std::time::Duration;

const COLLECTIONS: u64 = 1_000;
const DOCUMENTS: i32 = 20;
const SAMPLE: u64 = 10;

async fn filled() -> Place {
    let place = Place::new().await;
    let fill = |number: u64| {
        let collection = place.collection(&format!("c{number}"));
        async move {
            let document = |id: i32| rawdoc! { "_id": id, "name": "a name", "tags": ["a", "b"] };
            let documents: Vec<RawDocumentBuf> = (0..DOCUMENTS).map(document).collect();
            collection.insert_many(documents).await.map(drop)
        }
    };
    stream::iter(0..COLLECTIONS).map(fill).buffer_unordered(16).try_collect::<()>().await.unwrap();
    place
}

/// A sample reads what it is asked for, of every one of them, in its time.
#[tokio::test(flavor = "multi_thread")]
async fn a_sample_of_many_collections_keeps_its_budget() {
    let place = filled().await;
    let proxy = Proxy::new(&place.client, &place.uri, |_| Turn::Pass).await;
    let options =
        Options { uri: proxy.uri.clone(), reach: Reach::Sample(SAMPLE), ..place.options() };
    let report = place.audit(&options).await;
    assert!(report.scanned.complete, "{:?}", report.scanned.notes);
    assert_eq!(report.scanned.collections.len() as u64, COLLECTIONS);
    assert!(report.scanned.collections.iter().all(|it| it.scanned == SAMPLE));
    assert_eq!(report.scanned.documents, COLLECTIONS * SAMPLE);
    // The server sent no document more.
    assert_eq!(proxy.documents(), COLLECTIONS * SAMPLE);

    // Too little time for all of them: what was seen is told, and what was not.
    let budget = Budget { time: Some(Duration::from_millis(300)), load: None };
    let report = place.audit(&Options { budget, ..options }).await;
    if !report.scanned.complete {
        let notes = &report.scanned.notes;
        assert!(notes.iter().any(|it| it.note.contains("the time budget was used up")));
        assert!(report.scanned.documents < COLLECTIONS * SAMPLE);
    }
    place.stop().await;
}
