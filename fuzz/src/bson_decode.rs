//! No bytes make the check of a document panic, and what passes it is read the
//! same by this crate and by the `bson` crate.

use bson::{RawBsonRef, RawDocument};
use value::{Element, elements};

const DEPTH_MAX: usize = 50;

pub fn run(data: &[u8]) {
    check(data);
    // With a sound length and end the bytes get further.
    let mut whole = (data.len() as i32 + 5).to_le_bytes().to_vec();
    whole.extend_from_slice(data);
    whole.push(0);
    check(&whole);
}

fn check(bytes: &[u8]) {
    let Ok(document) = value::check::document(bytes, DEPTH_MAX) else { return };
    assert_eq!(elements(document).count(), document.iter().count());
    walk(document, 0);
    let _ = value::text::document(document);
}

fn walk(document: &RawDocument, depth: usize) {
    assert!(depth <= DEPTH_MAX, "deeper than the check allows");
    for (ours, theirs) in elements(document).zip(document) {
        let (name, theirs) = theirs.expect("the check has passed");
        assert_eq!(ours.key, name.as_str());
        assert_eq!(ours.kind, theirs.element_type());
        same(ours, depth);
    }
}

fn same(element: Element<'_>, depth: usize) {
    match element.value() {
        RawBsonRef::Document(inner) => walk(inner, depth + 1),
        RawBsonRef::Array(items) => {
            for item in value::element::array_elements(items) {
                same(item, depth + 1);
            }
        }
        value => assert!(value::compare(value, value).is_eq(), "{value:?} is not itself"),
    }
}
