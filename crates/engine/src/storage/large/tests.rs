//! Large values: what is written when, and that it comes back.

use super::*;
use crate::storage::trees::{Failure, Pairs, Tree, TreeSnapshot};
use crate::storage::{CollectionId, RecordId, View, keys};
use bson::{Bson, Document, RawDocumentBuf, doc, rawdoc};
use budget::{Held, Kind};
use fjall::Slice;
use language::Needs;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use value::Path;

const SECRET: Secret = [7; 8];
const COLLECTION: CollectionId = CollectionId(3);
const RECORD: RecordId = RecordId(9);

#[test]
fn a_kept_stub_is_not_written_again() {
    let secret = [7; 8];
    let text = "x".repeat(LARGE_VALUE_BYTES + 1);
    let first = split(&rawdoc! { "_id": 1, "big": text.as_str() }, None, &secret, &[]);
    assert_eq!(first.values.len(), 1);
    let inline = &first.record[..first.record.len() - TRAILER_BYTES];
    let inline = RawDocumentBuf::from_bytes(inline.to_vec()).unwrap();
    let mut after = inline.clone();
    after.append(bson::cstr!("n"), 1);
    let before = Before { stored: &inline, loaded: &inline, numbers: &[0], next: 1 };
    let second = split(&after, Some(before), &secret, &[]);
    assert!(second.values.is_empty());
    assert_eq!(second.kept, [0]);
    assert_eq!(second.size, first.size + 7);
    let forged = split(&after, Some(before), &[8; 8], &[]);
    assert!(forged.kept.is_empty(), "without the secret it is a value like any other");

    // The same where the value was loaded, as long as it stays what it was.
    let loaded = rawdoc! { "_id": 1, "big": text.as_str() };
    let before = Before { loaded: &loaded, ..before };
    let same = rawdoc! { "_id": 1, "n": 1, "big": text.as_str() };
    let third = split(&same, Some(before), &secret, &[]);
    assert_eq!((third.values.len(), third.kept), (0, vec![0]));
    let other = rawdoc! { "_id": 1, "big": text.replace('x', "y").as_str() };
    let third = split(&other, Some(before), &secret, &[]);
    assert_eq!((third.values.len(), third.kept), (1, Vec::new()));
}

#[test]
fn what_seldom_changes_is_kept_apart_when_it_is_smaller() {
    let text = "x".repeat(COLD_VALUE_BYTES + 1);
    let document = rawdoc! { "_id": 1, "a": { "cold": text.as_str(), "hot": text.as_str() } };
    let parts = split(&document, None, &SECRET, &[&Path::new("a.cold")]);
    assert_eq!((parts.values.len(), parts.size), (1, document.as_bytes().len()));
    let parts = split(&document, None, &SECRET, &[&Path::new("a"), &Path::new("b.cold")]);
    assert_eq!(parts.values.len(), 1);
    let parts = split(&document, None, &SECRET, &[&Path::new("a.cold.deeper")]);
    assert!(parts.values.is_empty());
}

/// One record and its large values, as they are stored.
#[derive(Debug, Default, Clone)]
struct Stored {
    pairs: BTreeMap<(Tree, Slice), Slice>,
}

impl Stored {
    fn of(document: &Document) -> Stored {
        let mut stored = Stored::default();
        stored.write(split(&raw(document), None, &SECRET, &[]));
        stored
    }

    /// Replaces the document; gives the bytes of large values that were written.
    fn replace(&mut self, document: &Document) -> usize {
        let view = self.view();
        let record = view.record(COLLECTION, RECORD).unwrap().unwrap();
        let loaded = record.load(&view, &Needs::All).unwrap();
        let numbers = numbers(record.stored(), &SECRET);
        let before = record.next_large().map(|next| Before {
            stored: record.stored(),
            loaded: &loaded,
            numbers: &numbers,
            next,
        });
        let split = split(&raw(document), before, &SECRET, &[]);
        assert!(split.kept.is_sorted() && split.kept.iter().all(|kept| numbers.contains(kept)));
        for number in numbers.iter().filter(|number| !split.kept.contains(number)) {
            let gone = self.pairs.remove(&(Tree::Large, large_key(*number)));
            assert!(gone.is_some(), "{number} was not there");
        }
        self.write(split)
    }

    fn write(&mut self, split: Split) -> usize {
        let mut bytes = 0;
        for (number, value) in split.values {
            bytes += value.len();
            let former = self.pairs.insert((Tree::Large, large_key(number)), value);
            assert!(former.is_none(), "{number} was taken");
        }
        let key = keys::record(COLLECTION, RECORD).into();
        self.pairs.insert((Tree::Records, key), split.record.into());
        bytes
    }

    fn view(&self) -> View {
        View::new(Arc::new(self.clone()), SECRET)
    }

    /// How many large values there are: exactly those that the record names.
    fn values(&self) -> usize {
        let record = self.view().record(COLLECTION, RECORD).unwrap().unwrap();
        let stored = self.pairs.keys().filter(|(tree, _)| *tree == Tree::Large);
        let numbers: Vec<Slice> =
            numbers(record.stored(), &SECRET).into_iter().map(large_key).collect();
        assert!(stored.map(|(_, key)| key).eq(&numbers));
        numbers.len()
    }

    fn assert_is(&self, document: &Document) {
        let view = self.view();
        let record = view.record(COLLECTION, RECORD).unwrap().unwrap();
        let loaded: RawDocumentBuf = record.load(&view, &Needs::All).unwrap().into();
        assert_eq!(loaded, raw(document));
        assert_eq!(record.size(), loaded.as_bytes().len());
        assert_eq!(size(record.stored(), &SECRET), record.size());
        self.values();
    }
}

impl TreeSnapshot for Stored {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
        Ok(self.pairs.get(&(tree, key.into())).cloned())
    }

    fn range(&self, _: Tree, _: (Bound<Slice>, Bound<Slice>)) -> Pairs {
        Box::new(std::iter::empty())
    }
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

fn large_key(number: u32) -> Slice {
    keys::large(COLLECTION, RECORD, number).into()
}

/// An element of about 150 bytes.
fn activity(number: usize) -> Bson {
    Bson::Document(doc! { "n": number as i64, "text": "x".repeat(120) })
}

fn with_array(array: &[Bson]) -> Document {
    doc! { "_id": 1, "array": array, "n": 5 }
}

#[test]
fn a_push_writes_little_at_any_length() {
    let large = |number: usize| Bson::String(format!("{number}{}", "x".repeat(2_000)));
    let mut array: Vec<Bson> = (0..20).map(large).collect();
    let mut stored = Stored::of(&with_array(&array));
    for number in 20..600 {
        array.push(large(number));
        let bytes = stored.replace(&with_array(&array));
        // Two of the smallest segments are put together once there are many.
        assert!(bytes < 25_000, "{bytes} at {}", array.len());
    }
    assert_eq!(stored.values(), 128);
    stored.assert_is(&with_array(&array));
}

#[test]
fn a_push_that_drops_the_first_writes_both_ends() {
    let mut array: Vec<Bson> = (0..1_000).map(activity).collect();
    let mut stored = Stored::of(&with_array(&array));
    for number in 1_000..1_200 {
        array.remove(0);
        array.push(activity(number));
        let bytes = stored.replace(&with_array(&array));
        assert!(bytes < 9_000, "{bytes}");
    }
    assert!(stored.values() <= 64);
    stored.assert_is(&with_array(&array));
}

#[test]
fn a_change_inside_writes_its_surroundings() {
    let mut array: Vec<Bson> = (0..5_000).map(activity).collect();
    let mut stored = Stored::of(&with_array(&array));
    for at in [0, 2_500, 2_501, 4_999] {
        array[at] = activity(at + 10_000);
        assert!(stored.replace(&with_array(&array)) < 20_000);
        array.insert(at, activity(at + 20_000));
        assert!(stored.replace(&with_array(&array)) < 25_000);
        array.remove(at / 2);
        assert!(stored.replace(&with_array(&array)) < 20_000);
    }
    stored.assert_is(&with_array(&array));
}

#[test]
fn an_array_that_repeats_itself_is_not_compared_for_ever() {
    let zeros = vec![Bson::Int32(0); 50_000];
    let mut stored = Stored::of(&with_array(&zeros));
    // Each segment is met everywhere, and differs at its very end.
    let mut ones = zeros.clone();
    (0..ones.len()).step_by(1_000).for_each(|at| ones[at] = Bson::Int32(1));
    stored.replace(&with_array(&ones));
    stored.assert_is(&with_array(&ones));
    stored.replace(&with_array(&zeros[1..]));
    stored.assert_is(&with_array(&zeros[1..]));
}

#[test]
fn keys_that_are_not_numbers_come_back() {
    let mut array = RawDocumentBuf::new();
    for number in 0..3_000 {
        array.append(bson::cstr!("k"), number);
    }
    // An array whose keys are what some client made of them.
    let mut bytes = rawdoc! { "_id": 1 }.into_bytes();
    bytes.pop();
    bytes.extend_from_slice(b"\x04a\0");
    bytes.extend_from_slice(array.as_bytes());
    bytes.push(0);
    let length = (bytes.len() as u32).to_le_bytes();
    bytes[..4].copy_from_slice(&length);
    let document = RawDocumentBuf::from_bytes(bytes).unwrap();
    let split = split(&document, None, &SECRET, &[]);
    assert_eq!(split.values.len(), 1);
    assert_eq!(&*split.values[0].1, array.as_bytes());
}

#[test]
fn numbers_begin_anew_past_those_in_use() {
    let array: Vec<Bson> = (0..200).map(activity).collect();
    let document = with_array(&array);
    let stored = Stored::of(&document);
    let view = stored.view();
    let record = view.record(COLLECTION, RECORD).unwrap().unwrap();
    let numbers = numbers(record.stored(), &SECRET);
    let loaded = raw(&document);
    let before =
        Before { stored: record.stored(), loaded: &loaded, numbers: &numbers, next: u32::MAX };
    let text = "x".repeat(LARGE_VALUE_BYTES + 1);
    let after = doc! { "_id": 1, "array": array, "a": &text, "b": &text };
    let split = split(&raw(&after), Some(before), &SECRET, &[]);
    let new: Vec<u32> = split.values.iter().map(|(number, _)| *number).collect();
    assert_eq!(new, [u32::MAX, numbers.len() as u32]);
    assert_eq!(split.kept, numbers);
}

/// Whether a document whose array has megabytes is loaded without leaving the thread.
async fn stays_on_the_thread(needs: Needs) -> bool {
    let array: Vec<Bson> = (0..20_000).map(activity).collect();
    let text = "x".repeat(LARGE_VALUE_BYTES + 1);
    let stored = Stored::of(&doc! { "_id": 1, "array": array, "text": text, "n": 5 });
    let load = turn::fair(async move {
        let view = stored.view();
        let record = view.record(COLLECTION, RECORD).unwrap().unwrap();
        // A task that has left the thread begins a new turn.
        turn::is_over();
        std::thread::sleep(turn::TURN_MAX);
        record.load(&view, &needs).unwrap();
        turn::is_over()
    });
    tokio::spawn(load).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_is_not_loaded_costs_nothing_however_large() {
    let path = |path| Needs::Paths(vec![Path::new(path)]);
    assert!(stays_on_the_thread(path("n")).await);
    assert!(stays_on_the_thread(path("text")).await);
    assert!(!stays_on_the_thread(path("array")).await);
    assert!(!stays_on_the_thread(Needs::All).await);
}

#[test]
fn no_more_is_reserved_than_is_loaded() {
    let array: Vec<Bson> = (0..20_000).map(activity).collect();
    let text = "x".repeat(2 * LARGE_VALUE_BYTES);
    let stored = Stored::of(&doc! { "_id": 1, "array": array, "text": text });
    let view = stored.view();
    let record = view.record(COLLECTION, RECORD).unwrap().unwrap();
    let reserved = |needs: &Needs| {
        let mut memory = Held::new(Kind::Work);
        join_within(&view, &record, record.stored(), needs, &mut memory).unwrap().unwrap();
        memory.bytes() as usize
    };
    assert_eq!(reserved(&Needs::Paths(vec![Path::new("text")])), 0);
    assert!(reserved(&Needs::All) >= record.size());
}

/// A change of an array.
#[derive(Debug, Clone)]
enum Edit {
    Push(usize),
    PopFront(usize),
    Insert(usize, usize),
    Remove(usize, usize),
    Set(usize, i32),
    Reverse,
    Double,
    Replace(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (1..40_usize).prop_map(Edit::Push),
        (1..40_usize).prop_map(Edit::PopFront),
        (any::<usize>(), 1..300_usize).prop_map(|(at, count)| Edit::Insert(at, count)),
        (any::<usize>(), 1..300_usize).prop_map(|(at, count)| Edit::Remove(at, count)),
        (any::<usize>(), any::<i32>()).prop_map(|(at, value)| Edit::Set(at, value)),
        Just(Edit::Reverse),
        Just(Edit::Double),
        (0..3_000_usize).prop_map(Edit::Replace),
    ]
}

fn apply(edit: &Edit, array: &mut Vec<Bson>, next: &mut usize) {
    let mut fresh = |count: usize| -> Vec<Bson> {
        let from = *next;
        *next += count;
        // Of different sizes and types, some of them equal.
        let make = |number: usize| match number % 4 {
            0 => Bson::Int32((number % 3) as i32),
            1 => Bson::String("y".repeat(number % 90)),
            2 => Bson::Array(vec![Bson::Null; number % 9]),
            _ => activity(number),
        };
        (from..from + count).map(make).collect()
    };
    let len = array.len();
    match *edit {
        Edit::Push(count) => array.extend(fresh(count)),
        Edit::PopFront(count) => drop(array.drain(..count.min(len))),
        Edit::Insert(at, count) => {
            let at = at % (len + 1);
            drop(array.splice(at..at, fresh(count)));
        }
        Edit::Remove(at, count) => {
            let at = at % (len + 1);
            drop(array.drain(at..(at + count).min(len)));
        }
        Edit::Set(at, value) if len > 0 => array[at % len] = Bson::Int32(value),
        Edit::Set(..) => {}
        Edit::Reverse => array.reverse(),
        Edit::Double if len < 20_000 => array.extend(array.clone()),
        Edit::Double => {}
        Edit::Replace(count) => *array = fresh(count),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn arrays_come_back_whatever_becomes_of_them(
        first in 0..2_000_usize, edits in prop::collection::vec(edit(), 1..24),
    ) {
        let (mut array, mut next) = (Vec::new(), 0);
        apply(&Edit::Replace(first), &mut array, &mut next);
        let document = |array: &[Bson]| doc! { "_id": 1, "in": { "array": array, "n": 1 } };
        let mut stored = Stored::of(&document(&array));
        stored.assert_is(&document(&array));
        for edit in edits {
            apply(&edit, &mut array, &mut next);
            stored.replace(&document(&array));
            stored.assert_is(&document(&array));
            prop_assert!(stored.values() <= 128);
        }
    }
}
