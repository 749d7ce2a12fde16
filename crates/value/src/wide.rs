//! Fields of a document with very many, found in a table while the document is worked on.
//!
//! A field is found by walking over those before it, which is the quickest way in documents as
//! they are. Of a wide document many fields may be asked for, one after the other, and each
//! walk would be long. Code that asks for many enters the document first; after some walks over
//! it, or over a document in it, the places of the fields are kept in a table.

use crate::element::Elements;
use bson::RawDocument;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::marker::PhantomData;

/// Documents shorter than this are always walked.
pub(crate) const WIDE_BYTES_MIN: usize = 4096;

/// How often a document is walked before the places of its fields are noted.
const WALKS_MAX: u32 = 16;

thread_local! {
    static CURRENT: RefCell<Option<Tables>> = const { RefCell::new(None) };
}

/// While this lives, the thread finds the fields of a document in tables. The document cannot
/// change meanwhile, nor can another take its place in memory.
pub struct Entered<'a> {
    before: Option<Tables>,
    document: PhantomData<&'a RawDocument>,
}

/// What is known of a document and of those in it.
struct Tables {
    /// Where the document lies in memory.
    start: usize,
    len: usize,
    /// By where the elements of each begin in memory.
    of: FxHashMap<usize, Table>,
}

#[derive(Default)]
struct Table {
    walks: u32,
    /// Where the first element of each key begins; none until it was walked often.
    places: Option<FxHashMap<Box<[u8]>, usize>>,
}

/// Enters a document of which many fields may be asked for; `None` where tables would be of no
/// use, or are kept already.
pub fn enter(document: &RawDocument) -> Option<Entered<'_>> {
    let bytes = document.as_bytes();
    if bytes.len() < WIDE_BYTES_MIN {
        return None;
    }
    let start = bytes.as_ptr() as usize;
    CURRENT.with_borrow_mut(|current| {
        if current.as_ref().is_some_and(|tables| tables.holds(start, bytes.len())) {
            return None;
        }
        let tables = Tables { start, len: bytes.len(), of: FxHashMap::default() };
        Some(Entered { before: current.replace(tables), document: PhantomData })
    })
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
    }
}

/// Whether the document was entered, or one that it stands in.
pub fn is_entered(document: &RawDocument) -> bool {
    let bytes = document.as_bytes();
    bytes.len() >= WIDE_BYTES_MIN
        && CURRENT.with_borrow(|current| {
            let holds = |tables: &Tables| tables.holds(bytes.as_ptr() as usize, bytes.len());
            current.as_ref().is_some_and(holds)
        })
}

/// Where among the elements of a whole document the first with this key begins, if the
/// document was entered and its fields were noted: `Some(None)` where there is none.
pub(crate) fn find(elements: &[u8], key: &str) -> Option<Option<usize>> {
    CURRENT.with_borrow_mut(|current| {
        let tables = current.as_mut()?;
        let start = elements.as_ptr() as usize;
        if !tables.holds(start, elements.len()) {
            return None;
        }
        let table = tables.of.entry(start).or_default();
        if table.walks < WALKS_MAX {
            table.walks += 1;
            return None;
        }
        let places = table.places.get_or_insert_with(|| places(elements));
        Some(places.get(key.as_bytes()).copied())
    })
}

fn places(elements: &[u8]) -> FxHashMap<Box<[u8]>, usize> {
    let mut places = FxHashMap::default();
    let mut rest = Elements::within(elements);
    loop {
        let at = elements.len() - rest.len_bytes();
        let Some((key, _)) = rest.next_keyed() else { return places };
        places.entry(key.into()).or_insert(at);
    }
}

impl Tables {
    fn holds(&self, start: usize, len: usize) -> bool {
        self.start <= start && start + len <= self.start + self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{get, get_value};
    use bson::{RawBsonRef, RawDocumentBuf, rawdoc};

    fn wide(first: i32) -> RawDocumentBuf {
        let mut document = RawDocumentBuf::new();
        for at in 0..1_000 {
            let key = bson::raw::CString::try_from(format!("k{at}")).unwrap();
            document.append(&key, first + at);
        }
        document.append(bson::cstr!("k7"), "again");
        document
    }

    #[test]
    fn fields_are_those_that_a_walk_finds() {
        let document = wide(0);
        for _ in 0..2 {
            let entered = enter(&document);
            assert!(entered.is_some() && enter(&document).is_none());
            for at in 0..1_000 {
                let found = get_value(&document, &format!("k{at}"));
                assert_eq!(found, Some(RawBsonRef::Int32(at)));
            }
            assert!(get(&document, "k1000").is_none() && get(&document, "").is_none());
            let found = get(&document, "k999").map(|found| found.key);
            assert_eq!(found, Some("k999"));
        }
    }

    #[test]
    fn documents_in_it_and_others_are_told_apart() {
        let outer = rawdoc! { "a": wide(0), "b": wide(5) };
        let other = wide(10);
        let _entered = enter(&outer);
        for _ in 0..2 * WALKS_MAX {
            for (name, first) in [("a", 0), ("b", 5)] {
                let inner = get(&outer, name).and_then(|found| found.as_document());
                let found = inner.and_then(|inner| get_value(inner, "k1"));
                assert_eq!(found, Some(RawBsonRef::Int32(first + 1)));
            }
            assert_eq!(get_value(&other, "k1"), Some(RawBsonRef::Int32(11)));
            let within = enter(&other);
            assert_eq!(get_value(&other, "k1"), Some(RawBsonRef::Int32(11)));
            drop(within);
        }
    }
}
