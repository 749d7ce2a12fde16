//! What is shown of an array: pages are read one after another, and no further once the
//! result is too large.

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use error::{Code, Result};
use freeboard_guard::Policy;
use freeboard_guard::policy::Overflow;
use freeboard_guard::read::{Pages, Show, TakePage, show, shown};
use language::Needs;
use naive::{Memory, namespace};
use std::ops::RangeInclusive;
use value::OwnedValue;
use write::{Transaction as _, Transactions as _};

const ELEMENT_BYTES: usize = 1024 * 1024;
const PAGES: i32 = 24;

fn policy() -> RawDocumentBuf {
    crate::named(rawdoc! { "arrays": { "a": { "max": 1, "on_limit": "overflow" } } })
}

fn element() -> RawBson {
    RawBson::String("x".repeat(ELEMENT_BYTES))
}

/// A document whose array has one element in its head, and one on each page.
fn parent() -> RawDocumentBuf {
    rawdoc! {
        "_id": 1, "a": ["first"], "aCount": PAGES + 1, "aHasOverflow": true,
        "aOverflowPages": PAGES,
    }
}

fn page(number: i32) -> RawDocumentBuf {
    rawdoc! {
        "_id": { "parent": 1, "path": "a", "page": number },
        "parentId": 1, "page": number, "count": 1, "a": [element()],
    }
}

/// Pages that are made when they are taken.
struct Made {
    taken: usize,
}

impl Pages for Made {
    async fn head(&mut self, _: &Overflow) -> Result<Option<OwnedValue>> {
        Ok(Some(OwnedValue::array(rawdoc! { "0": "first" })))
    }

    async fn counts(&mut self, _: &Overflow, _: RawBsonRef<'_>) -> Result<Vec<(i64, usize)>> {
        Ok((1..=i64::from(PAGES)).map(|number| (number, 1)).collect())
    }

    async fn each_page(
        &mut self,
        _: &Overflow,
        _: RawBsonRef<'_>,
        numbers: RangeInclusive<i64>,
        take: &mut TakePage<'_>,
    ) -> Result<()> {
        for number in (1..=i64::from(PAGES)).filter(|number| numbers.contains(number)) {
            self.taken += 1;
            take(&page(number as i32))?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn no_page_is_taken_after_the_one_that_is_too_much() {
    let policy = Policy::parse(&namespace("c"), &policy()).unwrap();
    let rule = policy.overflows().next().unwrap();
    let mut pages = Made { taken: 0 };
    let refused = show(rule, &Show::Whole, (&parent()).into(), &mut pages, 3 * ELEMENT_BYTES).await;
    assert_eq!(refused.unwrap_err().code(), Code::BSONObjectTooLarge);
    assert_eq!(pages.taken, 3);
    let mut pages = Made { taken: 0 };
    let whole = show(rule, &Show::Whole, (&parent()).into(), &mut pages, 30 * ELEMENT_BYTES)
        .await
        .unwrap()
        .unwrap();
    let array = value::element::get_value(&whole, "a").and_then(|array| array.as_array()).unwrap();
    assert_eq!(value::element::array_len(array), PAGES as usize + 1);
}

#[tokio::test]
async fn a_transaction_loads_no_more_than_it_shows() {
    let memory = Memory::with_policy("c", &policy());
    memory.put("c", parent());
    (1..=PAGES).for_each(|number| memory.put("c_a", page(number)));
    let slice = |count: i32| rawdoc! { "a": { "$slice": [0, count] } };
    let mut transaction = memory.begin().await.unwrap();
    let guard = transaction.guard(&namespace("c")).await.unwrap().unwrap();
    let policy = guard.policy().unwrap();
    let mut read = async |projection: &RawDocument| {
        transaction.loaded_bytes = 0;
        let document: &RawDocument = &parent();
        let read =
            shown(policy, &mut transaction, document.into(), Some(projection), &Needs::All).await;
        (read, transaction.loaded_bytes / ELEMENT_BYTES)
    };
    let (few, loaded) = read(&slice(4)).await;
    few.unwrap();
    assert_eq!(loaded, 3, "the head has the first");
    let (refused, loaded) = read(&slice(PAGES)).await;
    assert_eq!(refused.unwrap_err().code(), Code::BSONObjectTooLarge);
    assert_eq!(loaded, 16, "as many as fit, and the one that does not");
}
