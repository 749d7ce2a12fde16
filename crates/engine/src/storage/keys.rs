//! Where things stand in the trees. Every multi-byte number is big-endian, so
//! that keys sort by it.
//!
//! ```text
//! Records  0 's'                              the store's secret: 8 bytes
//!          0 'b'                              the last batch's stamp, see `disk`
//!          0 'i'                              next id: u32
//!          0 'c' <database> 0 <collection>    a collection: BSON
//!          0 'n' <collection id>              its counts: documents u64, bytes u64, and
//!                                             its figures of growth, see `growth`
//!          0 'g' <collection id> <path> 0 <record id>
//!                                             one of the longest arrays at a path: nothing;
//!                                             or without a path one of the largest
//!                                             documents: how it has grown
//!          0 'k' <index id> <bit: u8>         a multikey bit that is set: nothing
//!          0 'a' <index id> <path>            a path below a wildcard that has met arrays: nothing
//!          0 'd' <tree> <id>                  a dropped prefix, still to be purged
//!          0 'e' <number: u64>                changes still to be added to their trees: in how
//!                                             many rows they are packed, u32
//!          0 'r' <session> <statement: i32>   a retryable write that was carried out
//!          0 'l'                              the log of changes: start u64, bytes u64
//!          0 't'                              the second that the clock has reached: u64
//!          <collection id> <record id>        a record
//! Entries  <index id> <key>                   of a unique index: record id, types
//!          <index id> <key> <record id>       of any other index: types; `entry` says how
//!                                             keys are stored that are longer than the tree's
//! Large    <collection id> <record id> <n>    a large value
//!          0 'r' <session> <statement: i32>   what a retryable write answered, if large
//!          0 'e' <number: u64> <row: u32>     packed changes, see `deferred`
//!          <the last id> <time> <index>       an event of the log of changes: BSON
//! ```
//!
//! Ids are u32, never 0 and never the last; record ids are u64; `<n>` is a u32. An
//! event's time is a u64, its index a u32.

use super::{CollectionId, IndexId, Position, RecordId, SessionId, Tree};
use command::Namespace;
use fjall::Slice;
use std::ops::{Bound, RangeInclusive};

/// The prefix of the catalog's rows.
const CATALOG: [u8; 4] = [0; 4];
/// The prefix of the log's events, among the large values since some are large.
pub const LOG: u32 = u32::MAX;

pub fn secret() -> Slice {
    row(b's', &[])
}

pub fn stamp() -> Slice {
    row(STAMP_ROW, &[])
}

pub fn is_stamp(key: &[u8]) -> bool {
    is_row(key) && key.get(CATALOG.len()..) == Some(&[STAMP_ROW])
}

pub fn next_id() -> Slice {
    row(b'i', &[])
}

pub fn collection(namespace: &Namespace) -> Slice {
    row(b'c', &[namespace.database.as_bytes(), &[0], namespace.collection.as_bytes()])
}

pub fn counts(collection: CollectionId) -> Slice {
    row(b'n', &[&collection.0.to_be_bytes()])
}

/// One of the largest of a collection: of its documents where the path is empty, or
/// of the arrays at a path.
pub fn kept(collection: CollectionId, path: &str, record: u64) -> Slice {
    row(b'g', &[&collection.0.to_be_bytes(), path.as_bytes(), &[0], &record.to_be_bytes()])
}

/// Every such row of a collection.
pub fn kept_rows(collection: CollectionId) -> (Bound<Slice>, Bound<Slice>) {
    let first = row(b'g', &[&collection.0.to_be_bytes()]);
    // An id is never the last.
    (Bound::Included(first), Bound::Excluded(row(b'g', &[&(collection.0 + 1).to_be_bytes()])))
}

/// The collection, path and record that such a row is about.
pub fn kept_parts(key: &[u8]) -> Option<(CollectionId, &str, u64)> {
    let (collection, rest) = row_rest(key).split_first_chunk()?;
    let (path, record) = rest.split_last_chunk()?;
    let path = std::str::from_utf8(path.strip_suffix(&[0])?).ok()?;
    Some((CollectionId(u32::from_be_bytes(*collection)), path, u64::from_be_bytes(*record)))
}

pub fn multikey(index: IndexId, bit: u8) -> Slice {
    row(b'k', &[&index.0.to_be_bytes(), &[bit]])
}

/// Every multikey row of an index; the bit is the last byte of the key.
pub fn multikey_rows(index: IndexId) -> (Bound<Slice>, Bound<Slice>) {
    (Bound::Included(multikey(index, 0)), Bound::Included(multikey(index, u8::MAX)))
}

/// A path below a wildcard at which arrays were met.
pub fn array_path(index: IndexId, path: &str) -> Slice {
    row(b'a', &[&index.0.to_be_bytes(), path.as_bytes()])
}

/// Every such row of an index.
pub fn array_path_rows(index: IndexId) -> (Bound<Slice>, Bound<Slice>) {
    // An id is never the last.
    let end = row(b'a', &[&(index.0 + 1).to_be_bytes()]);
    (Bound::Included(array_path(index, "")), Bound::Excluded(end))
}

/// The path of such a row.
pub fn array_path_of(key: &[u8]) -> Option<&str> {
    let (_, path) = row_rest(key).split_first_chunk::<4>()?;
    std::str::from_utf8(path).ok()
}

/// Whether a key is a row of the catalog.
pub fn is_row(key: &[u8]) -> bool {
    key.starts_with(&CATALOG)
}

pub fn dropped(tree: Tree, id: u32) -> Slice {
    row(b'd', &[&[tree as u8], &id.to_be_bytes()])
}

pub fn is_dropped_row(key: &[u8]) -> bool {
    is_row(key) && key.get(CATALOG.len()) == Some(&DROPPED_ROWS)
}

/// The tree and prefix that a dropped row names.
pub fn dropped_parts(key: &[u8]) -> Option<(Tree, u32)> {
    let (tree, id) = row_rest(key).split_first()?;
    let tree = Tree::ALL.into_iter().find(|known| *known as u8 == *tree)?;
    Some((tree, u32::from_be_bytes(*id.first_chunk()?)))
}

/// Says that changes have still to be added to their trees.
pub fn deferred(number: u64) -> Slice {
    row(DEFERRED_ROWS, &[&number.to_be_bytes()])
}

/// The number of such changes.
pub fn deferred_number(key: &[u8]) -> Option<u64> {
    row_rest(key).first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

/// A row that such changes are packed in.
pub fn packed(number: u64, at: u32) -> Slice {
    row(DEFERRED_ROWS, &[&number.to_be_bytes(), &at.to_be_bytes()])
}

/// The record of a statement of a session.
pub fn statement(session: SessionId, statement: i32) -> Slice {
    row(STATEMENT_ROWS, &[&session, &statement.to_be_bytes()])
}

/// Every record of a session.
pub fn statements(session: SessionId) -> (Bound<Slice>, Bound<Slice>) {
    // As bytes, -1 is the greatest number.
    (Bound::Included(statement(session, 0)), Bound::Included(statement(session, -1)))
}

/// The session that a record is of.
pub fn statement_session(key: &[u8]) -> Option<SessionId> {
    row_rest(key).first_chunk().copied()
}

/// The number of the statement that a record is of.
pub fn statement_number(key: &[u8]) -> Option<i32> {
    let number = row_rest(key).get(16..)?.first_chunk()?;
    Some(i32::from_be_bytes(*number))
}

/// Every row of one kind.
pub fn rows(kind: u8) -> (Bound<Slice>, Bound<Slice>) {
    (Bound::Included(row(kind, &[])), Bound::Excluded(row(kind + 1, &[])))
}

const STAMP_ROW: u8 = b'b';
pub const COLLECTION_ROWS: u8 = b'c';
pub const DROPPED_ROWS: u8 = b'd';
pub const DEFERRED_ROWS: u8 = b'e';
pub const STATEMENT_ROWS: u8 = b'r';

/// What follows the prefix and kind in a row's key.
pub fn row_rest(key: &[u8]) -> &[u8] {
    key.get(CATALOG.len() + 1..).unwrap_or_default()
}

fn row(kind: u8, parts: &[&[u8]]) -> Slice {
    let mut key = CATALOG.to_vec();
    key.push(kind);
    parts.iter().for_each(|part| key.extend_from_slice(part));
    key.into()
}

pub fn record(collection: CollectionId, record: RecordId) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&collection.0.to_be_bytes());
    key[4..].copy_from_slice(&record.0.to_be_bytes());
    key
}

/// The record that a key is of; `None` for a row of the catalog.
pub fn record_of(key: &[u8]) -> Option<(CollectionId, RecordId)> {
    let (collection, record) = key.split_first_chunk()?;
    let record = RecordId(u64::from_be_bytes(record.try_into().ok()?));
    (!is_row(key)).then_some((CollectionId(u32::from_be_bytes(*collection)), record))
}

/// The record id at the end of a record's key.
pub fn record_id(key: &[u8]) -> Option<RecordId> {
    key.last_chunk().map(|bytes| RecordId(u64::from_be_bytes(*bytes)))
}

pub fn large(collection: CollectionId, record: RecordId, number: u32) -> [u8; 16] {
    let mut key = [0; 16];
    key[..12].copy_from_slice(&self::record(collection, record));
    key[12..].copy_from_slice(&number.to_be_bytes());
    key
}

/// The row of the clock.
pub fn clock() -> Slice {
    row(b't', &[])
}

/// The row that says that there is a log of changes.
pub fn log() -> Slice {
    row(b'l', &[])
}

pub fn log_event(position: Position) -> [u8; 16] {
    let mut key = [0; 16];
    key[..4].copy_from_slice(&LOG.to_be_bytes());
    key[4..12].copy_from_slice(&position.time.to_be_bytes());
    key[12..].copy_from_slice(&position.index.to_be_bytes());
    key
}

/// Every event of the log.
pub fn log_events() -> (Bound<Slice>, Bound<Slice>) {
    prefix(LOG)
}

/// Everything under a prefix.
pub fn prefix(id: u32) -> (Bound<Slice>, Bound<Slice>) {
    prefixes(id..=id)
}

/// Everything under some prefixes.
pub fn prefixes(ids: RangeInclusive<u32>) -> (Bound<Slice>, Bound<Slice>) {
    let end = match ids.end().checked_add(1) {
        Some(next) => Bound::Excluded(next.to_be_bytes().into()),
        None => Bound::Unbounded,
    };
    (Bound::Included(ids.start().to_be_bytes().into()), end)
}
