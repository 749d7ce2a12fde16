//! Every stored key and value as people read it: for `freeboard inspect` and for
//! tests.

use crate::growth::Tracked;
use crate::storage::large::TRAILER_BYTES;
use crate::storage::{Counts, Entry, Position, Tree, keys};
use bson::RawDocument;
use fjall::Slice;
use value::key::Direction;

/// What is needed to read an index's keys back.
#[derive(Debug, Clone)]
pub struct EntryShape {
    /// Whether keys are stored without their records.
    pub bare: bool,
    /// `None` where the keys cannot be decoded: hashed or collated.
    pub directions: Option<Vec<Direction>>,
}

/// A key of the records or of large values: `record 3/17`, `catalog next id` …
pub fn key(tree: Tree, key: &[u8]) -> String {
    let (id, rest) = split_id(key);
    match tree {
        Tree::Records if keys::is_row(key) => row(key),
        Tree::Records => match keys::record_id(key) {
            Some(record) if rest.len() == 8 => format!("record {id}/{}", record.0),
            _ => strange(key),
        },
        Tree::Large if keys::is_row(key) => row(key),
        Tree::Large if id == keys::LOG => match Position::read(key) {
            Some(Position { time, index }) => format!("change {time}/{index}"),
            None => strange(key),
        },
        Tree::Large => match (rest.get(..8), rest.get(8..)) {
            (Some(record), Some(number)) if number.len() == 4 => {
                format!("large {id}/{}/{}", number_of(record), number_of(number))
            }
            _ => strange(key),
        },
        Tree::Entries => format!("entry {id}/{}", hex(rest)),
    }
}

/// An index entry: `entry 4 [1, "a"] -> 17`.
pub fn entry(key: Slice, value: Slice, shape: &EntryShape) -> String {
    let (id, _) = split_id(&key);
    let Ok(entry) = Entry::read(key.clone(), value, shape.bare) else { return strange(&key) };
    let decoded = shape.directions.as_deref().and_then(|directions| {
        let values = value::key::decode(entry.key(), entry.types(), directions)?;
        let texts: Vec<_> =
            values.iter().map(|value| value::text::short(value.as_raw_bson_ref())).collect();
        Some(format!("[{}]", texts.join(", ")))
    });
    format!("entry {id} {} -> {}", decoded.unwrap_or_else(|| hex(entry.key())), entry.record.0)
}

/// A value of the records or of large values.
pub fn value(tree: Tree, key: &[u8], value: &[u8]) -> String {
    match tree {
        Tree::Records if keys::is_row(key) => row_value(key, value),
        Tree::Records => record(value),
        Tree::Large if split_id(key).0 == keys::LOG => record(value),
        Tree::Large => format!("{} bytes", value.len()),
        Tree::Entries => hex(value),
    }
}

fn record(value: &[u8]) -> String {
    let length = value.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    let document = value.get(..length).and_then(|bytes| RawDocument::from_bytes(bytes).ok());
    match document {
        None => strange(value),
        Some(document) if value.len() == length + TRAILER_BYTES => {
            format!("{} (large values out of line)", value::text::document(document))
        }
        Some(document) => value::text::document(document),
    }
}

fn row(key: &[u8]) -> String {
    let rest = keys::row_rest(key);
    match key.get(4) {
        Some(b's') => "catalog secret".to_owned(),
        Some(b'l') => "log of changes".to_owned(),
        Some(b't') => "clock".to_owned(),
        Some(b'b') => "last batch".to_owned(),
        Some(b'i') => "catalog next id".to_owned(),
        Some(b'c') => {
            let mut names = rest.splitn(2, |byte| *byte == 0).map(String::from_utf8_lossy);
            let (database, name) = (names.next(), names.next());
            format!("collection {}.{}", database.unwrap_or_default(), name.unwrap_or_default())
        }
        Some(b'n') => format!("counts {}", number_of(rest)),
        Some(b'g') => match keys::kept_parts(key) {
            Some((collection, "", record)) => format!("large {}/{record}", collection.0),
            Some((collection, path, record)) => format!("long {path} {}/{record}", collection.0),
            None => strange(key),
        },
        Some(b'k') => {
            let (bit, index) = rest.split_last().unwrap_or((&0, &[]));
            format!("multikey {} bit {bit}", number_of(index))
        }
        Some(b'a') => match keys::array_path_of(key) {
            Some(path) => format!("arrays {} {path}", number_of(rest.get(..4).unwrap_or_default())),
            None => strange(key),
        },
        Some(b'r') => match rest.split_first_chunk() {
            Some((session, statement)) => {
                let statement = statement.first_chunk().map_or(0, |it| i32::from_be_bytes(*it));
                format!("statement {} {statement}", bson::Uuid::from_bytes(*session))
            }
            None => strange(key),
        },
        Some(b'e') => match (keys::deferred_number(key), rest.get(8..)) {
            (Some(number), Some([])) => format!("deferred changes {number}"),
            (Some(number), Some(row)) => format!("deferred changes {number}/{}", number_of(row)),
            _ => strange(key),
        },
        Some(b'd') => match keys::dropped_parts(key) {
            Some((tree, id)) => format!("dropped {} {id}", tree.name()),
            None => strange(key),
        },
        _ => strange(key),
    }
}

fn row_value(key: &[u8], value: &[u8]) -> String {
    match key.get(4) {
        Some(b'c') => record(value),
        Some(b'n') => {
            let counts = Counts::read(value);
            let figures = value.len().saturating_sub(Counts::BYTES);
            let (documents, bytes) = (counts.documents, counts.bytes);
            format!("{documents} documents, {bytes} bytes, {figures} bytes of figures")
        }
        Some(b'g') if value.is_empty() => String::new(),
        Some(b'g') => Tracked::read(value).to_string(),
        Some(b'l') => {
            let (start, bytes) = value.split_at(value.len().min(8));
            format!("whole from {}, {} bytes", number_of(start), number_of(bytes))
        }
        Some(b's') => "(kept to itself)".to_owned(),
        Some(b'e') => format!("{} rows", number_of(value)),
        Some(b'b' | b'i' | b't') => number_of(value).to_string(),
        Some(b'r') => {
            let part = |range| number_of(value.get(range).unwrap_or_default());
            let shown = format!("number {}, {} statements", part(0..8), part(12..16));
            match value.get(16..) {
                Some([]) | None => shown,
                Some(answer) => format!("{shown}, {}", record(answer)),
            }
        }
        _ => hex(value),
    }
}

fn split_id(key: &[u8]) -> (u32, &[u8]) {
    match key.split_first_chunk() {
        Some((id, rest)) => (u32::from_be_bytes(*id), rest),
        None => (0, key),
    }
}

fn number_of(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn strange(bytes: &[u8]) -> String {
    format!("not understood: {}", hex(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::entry::place;
    use crate::storage::{CollectionId, IndexId, RecordId};
    use bson::{RawBsonRef, rawdoc};
    use command::Namespace;
    use value::key::Key;

    #[test]
    fn keys_are_readable() {
        let namespace = Namespace { database: "shop".into(), collection: "a.b".into() };
        assert_eq!(key(Tree::Records, &keys::collection(&namespace)), "collection shop.a.b");
        assert_eq!(key(Tree::Records, &keys::counts(CollectionId(3))), "counts 3");
        assert_eq!(key(Tree::Records, &keys::multikey(IndexId(4), 1)), "multikey 4 bit 1");
        assert_eq!(key(Tree::Records, &keys::array_path(IndexId(4), "a.b")), "arrays 4 a.b");
        assert_eq!(key(Tree::Records, &keys::kept(CollectionId(3), "", 9)), "large 3/9");
        assert_eq!(key(Tree::Records, &keys::kept(CollectionId(3), "a.b", 9)), "long a.b 3/9");
        let statement = keys::statement([7; 16], 3);
        let shown = "statement 07070707-0707-0707-0707-070707070707 3";
        assert_eq!(key(Tree::Records, &statement), shown);
        assert_eq!(key(Tree::Records, &keys::dropped(Tree::Large, 9)), "dropped large 9");
        assert_eq!(key(Tree::Records, &keys::deferred(2)), "deferred changes 2");
        assert_eq!(key(Tree::Large, &keys::packed(2, 7)), "deferred changes 2/7");
        let record = keys::record(CollectionId(3), RecordId(17));
        assert_eq!(key(Tree::Records, &record), "record 3/17");
        let document = rawdoc! { "_id": 1, "name": "x" };
        assert_eq!(value(Tree::Records, &record, document.as_bytes()), "{ _id: 1, name: \"x\" }");
        let large = keys::large(CollectionId(3), RecordId(17), 2);
        assert_eq!(key(Tree::Large, &large), "large 3/17/2");
    }

    #[test]
    fn entries_show_their_values() {
        let mut made = Key::default();
        made.push(RawBsonRef::Int32(5), Direction::Ascending, None);
        made.push(RawBsonRef::String("a"), Direction::Descending, None);
        let directions = Some(vec![Direction::Ascending, Direction::Descending]);
        let shape = EntryShape { bare: false, directions };
        let at = place(IndexId(4), &made.bytes, Some(RecordId(17)));
        let shown = entry(at.into(), made.types.into(), &shape);
        assert_eq!(shown, "entry 4 [5, \"a\"] -> 17");
    }
}
