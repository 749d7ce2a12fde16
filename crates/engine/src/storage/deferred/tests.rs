//! Deferred changes are seen as if they were in the trees, however many of them are.

use super::*;
use crate::storage::disk::{Books, Disk};
use crate::storage::trees::Range;
use std::ops::Bound;

const KEYS: u32 = 6_000;

/// No row of the catalog.
fn key(number: u32) -> Slice {
    (number + 1).to_be_bytes().into()
}

fn change(tree: Tree, number: u32, value: Option<&str>) -> TreeChange {
    TreeChange { tree, key: key(number), value: value.map(Slice::from) }
}

/// In each tree every third key is there before; of the others every second comes, and some go.
fn changes() -> (Vec<TreeChange>, Vec<TreeChange>) {
    let before = |tree| (0..KEYS).step_by(3).map(move |it| change(tree, it, Some("before")));
    let after = |tree| {
        (0..KEYS).step_by(2).map(move |number| match number % 9 {
            0 => change(tree, number, None),
            _ => change(tree, number, Some("")),
        })
    };
    (
        Tree::ALL.into_iter().flat_map(before).collect(),
        Tree::ALL.into_iter().flat_map(after).collect(),
    )
}

/// What a range holds, but for rows of the catalog.
fn pairs(snapshot: &dyn TreeSnapshot, tree: Tree, range: Range) -> Vec<(Slice, Slice)> {
    let is_change = |pair: &(Slice, Slice)| !keys::is_row(&pair.0);
    let all = || snapshot.range(tree, range.clone());
    let forward: Vec<_> = all().map(Result::unwrap).filter(is_change).collect();
    let mut backward: Vec<_> = all().rev().map(Result::unwrap).filter(is_change).collect();
    backward.reverse();
    assert!(forward == backward);
    for (key, value) in &forward {
        assert_eq!(snapshot.get(tree, key).unwrap().as_ref(), Some(value));
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

fn seen(snapshot: &dyn TreeSnapshot) -> Vec<Vec<(Slice, Slice)>> {
    let of = |tree| ranges().into_iter().map(move |range| pairs(snapshot, tree, range));
    Tree::ALL.into_iter().flat_map(of).collect()
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
    let deferred = backlog.add(Packed::new(entries.into()), &mut batch);
    assert!(seen(&*backlog.snapshot()) == without, "not before their commit");
    disk.apply(batch).unwrap();
    let with = seen(&*backlog.snapshot());
    assert!(with != without);
    let expected = (0..KEYS).filter(|it| (it % 3 == 0 || it % 2 == 0) && it % 18 != 0).count();
    assert!(with.iter().step_by(ranges().len()).all(|all| all.len() == expected));

    let (piece, next) = deferred.piece(0);
    disk.apply(piece).unwrap();
    assert_eq!(next, Some(PIECE_CHANGES));
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
    let deferred = backlog.add(Packed::new(entries.into()), &mut batch);
    disk.apply(batch).unwrap();
    let with = seen(&*backlog.snapshot());
    let mut next = Some(0);
    while let Some(from) = next {
        let (piece, rest) = deferred.piece(from);
        assert!(piece.len() <= PIECE_CHANGES + deferred.rows as usize + 1);
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
    let (_, changes) = changes();
    let (row, count) = pack::row(&changes).unwrap();
    let mut read = Vec::new();
    pack::read(&row, &mut read).unwrap();
    assert!(read == changes[..count]);
    let cut = &row[..row.len() - 1];
    assert_eq!(pack::read(cut, &mut Vec::new()), None);
}

/// Rows of a store that was written when only index entries were deferred.
#[test]
fn rows_without_trees_hold_entries() {
    let row = [&3_u32.to_be_bytes()[..], &1_u32.to_be_bytes(), b"key", b"v"].concat();
    let mut read = Vec::new();
    pack::read(&row, &mut read).unwrap();
    let entry = TreeChange { tree: Tree::Entries, key: b"key".into(), value: Some(b"v".into()) };
    assert!(read == [entry]);
}

#[test]
fn rows_without_a_commit_are_gone_after_a_start() {
    let directory = tempfile::tempdir().unwrap();
    let disk = open(directory.path());
    let backlog = Backlog::open(disk.clone()).unwrap();
    let (_, changes) = changes();
    let mut packed = Packed::new(changes.into());
    let staged = packed.take_rows(backlog.next_number(), usize::MAX);
    assert!(!staged.is_empty());
    disk.apply(staged).unwrap();
    let rows = || disk.snapshot().range(Tree::Large, keys::rows(keys::DEFERRED_ROWS)).count();
    assert_ne!(rows(), 0);
    let backlog = Backlog::open(disk.clone()).unwrap();
    assert_eq!(rows(), 0);
    assert!(seen(&*backlog.snapshot()).iter().all(Vec::is_empty));
}

#[test]
fn few_changes_and_rows_of_the_catalog_stay_with_their_commit() {
    let count = CHANGES_AT_ONCE_MAX as u32;
    let changes = |count| -> Vec<TreeChange> {
        let row = TreeChange { tree: Tree::Records, key: keys::next_id(), value: None };
        let many = (0..count).map(|number| change(Tree::Records, number, None));
        [row].into_iter().chain(many).chain([change(Tree::Large, 1, None)]).collect()
    };
    let mut few = changes(count - 1);
    assert!(Packed::take(&mut few, &mut Held::new(Kind::Work)).is_none());
    assert!(few == changes(count - 1));
    let mut many = changes(count);
    let packed = Packed::take(&mut many, &mut Held::new(Kind::Work)).unwrap();
    assert_eq!(packed.changes().len(), CHANGES_AT_ONCE_MAX + 1);
    assert!(many.iter().all(|change| keys::is_row(&change.key)) && many.len() == 1);
    assert!(packed.changes().get(Tree::Large, &key(1)).is_some());
    assert!(packed.changes().get(Tree::Large, &key(2)).is_none());
}

#[test]
fn pieces_of_large_values_are_short() {
    let value = Slice::from(vec![0; PIECE_BYTES / 4]);
    let change =
        |number| TreeChange { tree: Tree::Large, key: key(number), value: Some(value.clone()) };
    let changes = DeferredChanges::from((0..9).map(change).collect::<Vec<_>>());
    let deferred = Deferred { number: 1, changes, rows: 0 };
    assert_eq!(deferred.piece(0).1, Some(4));
    assert_eq!(deferred.piece(8).1, None);
}
