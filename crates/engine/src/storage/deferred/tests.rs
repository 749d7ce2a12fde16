//! Deferred entries are seen as if they were in the tree, however many of them are.

use super::*;
use crate::storage::disk::{Books, Disk};
use std::ops::Bound;

const KEYS: u32 = 6_000;

fn key(number: u32) -> Slice {
    number.to_be_bytes().into()
}

fn entry(number: u32, value: Option<&str>) -> Entry {
    (key(number), value.map(Slice::from))
}

/// Every third key is there before; of the others every second comes, and some go.
fn changes() -> (Vec<Change>, Vec<Entry>) {
    let before = (0..KEYS).step_by(3).map(|number| entry(number, Some("before")));
    let before = before.map(|(key, value)| Change { tree: Tree::Entries, key, value }).collect();
    let entries = (0..KEYS).filter(|number| number % 2 == 0);
    let entries = entries.map(|number| match number % 9 {
        0 => entry(number, None),
        _ => entry(number, Some("")),
    });
    (before, entries.collect())
}

/// What a range holds, but for the row of the last batch.
fn pairs(snapshot: &dyn Snapshot, range: Range) -> Vec<(Slice, Slice)> {
    let is_entry = |pair: &(Slice, Slice)| !keys::is_stamp(&pair.0);
    let all = || snapshot.range(Tree::Entries, range.clone());
    let forward: Vec<_> = all().map(Result::unwrap).filter(is_entry).collect();
    let mut backward: Vec<_> = all().rev().map(Result::unwrap).filter(is_entry).collect();
    backward.reverse();
    assert!(forward == backward);
    for (key, value) in &forward {
        assert_eq!(snapshot.get(Tree::Entries, key).unwrap().as_ref(), Some(value));
    }
    forward
}

fn ranges() -> Vec<Range> {
    vec![
        (Bound::Unbounded, Bound::Unbounded),
        (Bound::Included(key(90)), Bound::Excluded(key(91))),
        (Bound::Excluded(key(90)), Bound::Included(key(180))),
        (Bound::Included(key(1_000)), Bound::Excluded(key(5_000))),
        (Bound::Included(key(KEYS)), Bound::Unbounded),
    ]
}

fn seen(snapshot: &dyn Snapshot) -> Vec<Vec<(Slice, Slice)>> {
    ranges().into_iter().map(|range| pairs(snapshot, range)).collect()
}

fn open(directory: &std::path::Path) -> Arc<Disk> {
    Arc::new(Disk::open(directory, Books::Required).unwrap())
}

#[test]
fn snapshots_show_them_at_every_piece_and_a_start_adds_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    let (before, entries) = changes();
    let disk = open(directory.path());
    let backlog = Backlog::open(disk.clone()).unwrap();
    disk.apply(before).unwrap();
    let older = backlog.snapshot();
    let without = seen(&*older);

    let mut batch = Vec::new();
    let packed = Packed { rows: pack::rows(&entries), entries: entries.clone() };
    let deferred = backlog.add(packed, &mut batch);
    assert!(seen(&*backlog.snapshot()) == without, "not before their commit");
    disk.apply(batch).unwrap();
    let with = seen(&*backlog.snapshot());
    assert!(with != without);
    let expected = (0..KEYS).filter(|it| (it % 3 == 0 || it % 2 == 0) && it % 18 != 0).count();
    assert_eq!(with[0].len(), expected);

    let (piece, next) = deferred.piece(0);
    disk.apply(piece).unwrap();
    assert_eq!(next, Some(PIECE_ENTRIES));
    assert!(seen(&*backlog.snapshot()) == with);
    assert!(seen(&*older) == without, "a snapshot stays as it is");
    drop((older, backlog));
    disk.flush(None).unwrap();
    drop(disk);

    // The process ends here.
    let disk = open(directory.path());
    let backlog = Backlog::open(disk.clone()).unwrap();
    assert!(seen(&*disk.snapshot()) == with);
    assert!(seen(&*backlog.snapshot()) == with);
    let rows = keys::rows(keys::DEFERRED_ROWS);
    for tree in [Tree::Records, Tree::Large] {
        assert_eq!(disk.snapshot().range(tree, rows.clone()).count(), 0);
    }
}

#[test]
fn they_are_removed_with_their_last_piece() {
    let directory = tempfile::tempdir().unwrap();
    let disk = open(directory.path());
    let backlog = Backlog::open(disk.clone()).unwrap();
    let (_, entries) = changes();
    let mut batch = Vec::new();
    let packed = Packed { rows: pack::rows(&entries), entries };
    let deferred = backlog.add(packed, &mut batch);
    disk.apply(batch).unwrap();
    let with = seen(&*backlog.snapshot());
    let mut next = Some(0);
    while let Some(from) = next {
        let (piece, rest) = deferred.piece(from);
        assert!(piece.len() <= PIECE_ENTRIES + deferred.rows as usize + 1);
        disk.apply(piece).unwrap();
        assert!(seen(&*backlog.snapshot()) == with);
        next = rest;
    }
    backlog.remove(&deferred);
    assert!(seen(&*backlog.snapshot()) == with);
    assert!(seen(&*disk.snapshot()) == with);
    assert!(backlog.shown.load().is_empty());
}

#[test]
fn what_is_packed_is_read_back_and_damage_is_seen() {
    let (_, entries) = changes();
    let rows = pack::rows(&entries);
    let mut read = Vec::new();
    rows.iter().for_each(|row| pack::read(row, &mut read).unwrap());
    assert!(read == entries);
    let cut = &rows[0][..rows[0].len() - 1];
    assert_eq!(pack::read(cut, &mut Vec::new()), None);
}

#[test]
fn few_entries_stay_with_their_commit() {
    let (few, _) = changes();
    let mut changes = few.clone();
    assert!(Packed::take(&mut changes).is_none());
    assert_eq!(changes.len(), few.len());
    let record = Change { tree: Tree::Records, key: key(1), value: None };
    let large = Change { tree: Tree::Large, key: key(1), value: None };
    let many = (0..=ENTRIES_AT_ONCE_MAX as u32).map(|number| Change {
        tree: Tree::Entries,
        key: key(number),
        value: None,
    });
    let mut changes: Vec<Change> = [record].into_iter().chain(many).chain([large]).collect();
    let packed = Packed::take(&mut changes).unwrap();
    assert_eq!(packed.entries(), ENTRIES_AT_ONCE_MAX + 1);
    let left: Vec<Tree> = changes.iter().map(|change| change.tree).collect();
    assert_eq!(left, [Tree::Records, Tree::Large]);
}
