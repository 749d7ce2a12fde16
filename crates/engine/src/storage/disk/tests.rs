//! The journal as we read it is the one that fjall writes.

use super::journal::{self, JournalBatch};
use super::watermark::Marked;
use super::*;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

/// The journal's and the manifest's layouts were taken from these versions. With
/// others, compare `journal.rs` and `manifest.rs` with their sources first.
#[test]
fn the_versions_are_those_whose_files_we_read() {
    let lock = include_str!("../../../../../Cargo.lock");
    for (name, version) in [("fjall", "3.1.13"), ("lsm-tree", "3.1.10"), ("sfa", "1.0.0")] {
        let package = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&package), "another version of {name}");
    }
}

fn change(tree: Tree, key: u32, value: Option<Vec<u8>>) -> TreeChange {
    TreeChange { tree, key: key.to_be_bytes().into(), value: value.map(Into::into) }
}

/// Some batches of every kind of item. Some are so large that the journal compresses
/// them.
fn fill(disk: &Disk, batches: u32) {
    fill_with(disk, batches, 700);
}

fn fill_with(disk: &Disk, batches: u32, step: usize) {
    for number in 1..=batches {
        let text = vec![b'x'; number as usize * step];
        let changes = vec![
            change(Tree::Records, number, Some(text.clone())),
            change(Tree::Entries, number, Some(Vec::new())),
            change(Tree::Entries, number - 1, None),
            change(Tree::Large, number, Some(text)),
        ];
        disk.apply(changes).unwrap();
    }
}

fn marked(number: u64) -> StoredMark {
    let reached = Reached { number, ..Reached::default() };
    StoredMark::Read(Marked { reached, ..Marked::default() })
}

/// Looks at the trees, and puts them right.
fn recover(directory: &Path, mark: StoredMark) -> Result<Recovery, Fault> {
    let known = Known { books: Books::Inventory, marks: [mark; 2], inventory: None };
    let found = recovery::look(directory, &known)?;
    found.put_right()?;
    Ok(found.recovery)
}

fn journal_of(directory: &Path) -> PathBuf {
    directory.join(TREES).join("0.jnl")
}

#[test]
fn every_batch_is_read_with_its_stamp() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    fill(&disk, 10);
    disk.sync(SyncLevel::Disk).unwrap();
    fill(&disk, 10);
    disk.sync(SyncLevel::System).unwrap();
    let bytes = journal::read(&journal_of(directory.path())).unwrap();
    let mut at = 0;
    let mut stamps = Vec::new();
    while let Some(JournalBatch { sequence, stamp, end }) = journal::batch(&bytes, at) {
        let stamp = stamp.unwrap();
        assert!(stamp.allows(sequence));
        stamps.push(stamp);
        at = end;
    }
    assert!(bytes[at..].iter().all(|byte| *byte == 0), "stopped at {at}");
    assert!(stamps.iter().map(|stamp| stamp.number).eq(1..=20));
    assert_eq!(stamps[9].synced, 0);
    assert_eq!(stamps[10].synced, 10);
    assert_eq!(journal::batches(&bytes, 1).count(), 19, "all but the first");
}

#[test]
fn much_in_memory_is_written_out_when_there_is_time() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    let in_memory = || disk.keyspace(Tree::Records).tree.active_memtable().size();
    fill(&disk, 10);
    let little = in_memory();
    disk.tidy().unwrap();
    assert_eq!(in_memory(), little);
    let much = vec![1; TIDY_BYTES as usize];
    disk.apply(vec![change(Tree::Records, 1, Some(much.clone()))]).unwrap();
    disk.tidy().unwrap();
    assert!(in_memory() < TIDY_BYTES);
    let stored = disk.snapshot().get(Tree::Records, &1_u32.to_be_bytes()).unwrap();
    assert!(stored.is_some_and(|stored| *stored == *much));
}

#[test]
fn the_bytes_of_the_journal_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    // So small that nothing is compressed.
    fill_with(&disk, 10, 1);
    disk.sync(SyncLevel::System).unwrap();
    let bytes = journal::read(&journal_of(directory.path())).unwrap();
    let end = journal::batches(&bytes, 0).last().unwrap().end;
    assert_eq!(disk.journaled_bytes(), end as u64);
}

#[test]
fn a_clean_stop_is_told_from_a_crash() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    assert_eq!(disk.recovery().stop, Stop::None);
    fill(&disk, 3);
    disk.flush(None).unwrap();
    drop(disk);
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    assert_eq!(disk.recovery().stop, Stop::Clean);
    fill(&disk, 3);
    disk.sync(SyncLevel::Disk).unwrap();
    drop(disk);
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    let Recovery { stop, batches, cut_bytes, .. } = disk.recovery().clone();
    assert_eq!((stop, batches, cut_bytes), (Stop::Crash, 6, 0));
}

/// What is damaged in a journal that had been synced is told, each byte of it.
#[test]
fn any_flipped_byte_of_what_was_synced_is_damage() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    fill_with(&disk, 4, 5);
    disk.sync(SyncLevel::Disk).unwrap();
    let mark = marked(4);
    let path = journal_of(directory.path());
    let bytes = journal::read(&path).unwrap();
    let sound = recover(directory.path(), mark).unwrap();
    assert_eq!((sound.batches, sound.cut_bytes), (4, 0));
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    for (at, byte) in bytes.iter().enumerate().take(sound.bytes as usize) {
        file.write_all_at(&[byte ^ 1 << (at % 8)], at as u64).unwrap();
        match recover(directory.path(), mark) {
            Err(Fault::Damage(_)) => {}
            // A sequence number that still has its place in the order does no harm.
            Ok(recovered) => assert_eq!(recovered, sound, "byte {at}"),
            Err(fault) => panic!("byte {at}: {fault}"),
        }
        file.write_all_at(&[*byte], at as u64).unwrap();
    }
    drop(disk);
}

/// The order in which pages reach the disk is anyone's guess: after a power loss a
/// later batch may be there and an earlier one not. Neither was promised.
#[test]
fn a_hole_in_what_was_not_synced_is_cut() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    fill(&disk, 3);
    disk.sync(SyncLevel::Disk).unwrap();
    let path = journal_of(directory.path());
    let third = journal::batches(&journal::read(&path).unwrap(), 0).last().unwrap().end;
    fill(&disk, 2);
    disk.sync(SyncLevel::System).unwrap();
    let mark = marked(3);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0; 40], third as u64).unwrap();
    let unknown = recover(directory.path(), StoredMark::Unreadable);
    assert!(matches!(unknown, Err(Fault::Damage(_))), "it may have been promised");
    let recovered = recover(directory.path(), mark).unwrap();
    assert_eq!(recovered.batches, 3);
    assert!(recovered.cut_bytes > 0);
    assert_eq!(file.metadata().unwrap().len(), third as u64);
    drop(disk);
}

#[test]
fn a_first_start_that_was_cut_short_is_started_again() {
    let directory = tempfile::tempdir().unwrap();
    let trees = directory.path().join(TREES);
    std::fs::create_dir_all(trees.join("keyspaces")).unwrap();
    std::fs::write(trees.join("lock"), "").unwrap();
    std::fs::write(trees.join("0.jnl"), [0; 1000]).unwrap();
    std::fs::write(trees.join("version"), "").unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    assert_eq!(disk.recovery().stop, Stop::None);
    fill(&disk, 1);
    disk.sync(SyncLevel::Disk).unwrap();
    drop(disk);
    std::fs::remove_file(trees.join("version")).unwrap();
    assert!(
        matches!(Disk::open(directory.path(), Books::Required), Err(Fault::Damage(_))),
        "it holds data"
    );
}

/// What lies in files that hold nothing else goes with them, and the rest stays.
#[test]
fn files_of_a_dead_range_are_given_back_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    let put = |prefix: u32, number: u32| {
        let mut value = vec![0; 10_000];
        rand::RngCore::fill_bytes(&mut rand::rng(), &mut value);
        let key = [prefix.to_be_bytes(), number.to_be_bytes()].concat().into();
        TreeChange { tree: Tree::Records, key, value: Some(value.into()) }
    };
    for prefix in [3, 5, 7] {
        disk.apply((0..100).map(|number| put(prefix, number)).collect()).unwrap();
    }
    disk.write_out(None).unwrap();
    let tree = &disk.keyspace(Tree::Records).tree;
    tree.major_compact(100_000, 0).unwrap();
    let count = |prefix| disk.snapshot().range(Tree::Records, keys::prefix(prefix)).count();
    let old = disk.snapshot();
    assert!(disk.discard(Tree::Records, &keys::prefix(5)).unwrap());
    assert_eq!((count(3), count(7)), (100, 100));
    assert!(count(5) < 50, "{} are left", count(5));
    // A snapshot goes on with what it read.
    assert_eq!(old.range(Tree::Records, keys::prefix(5)).count(), 100);
    assert!(!disk.discard(Tree::Entries, &keys::prefix(5)).unwrap());
}

/// Closing leaves what it has no time for to the next start.
#[test]
fn what_is_not_written_out_in_time_is_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    fill(&disk, 20);
    disk.flush(Some(Instant::now())).unwrap();
    drop(disk);
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    assert_eq!(disk.recovery().stop, Stop::Clean);
    for number in 1..=20_u32 {
        let stored = disk.snapshot().get(Tree::Records, &number.to_be_bytes()).unwrap();
        assert!(stored.is_some(), "{number}");
    }
}

/// The checksums in the lists are those of whole files.
#[test]
fn files_are_what_the_lists_say() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    fill_with(&disk, 20, 3_000);
    disk.flush(None).unwrap();
    let keyspaces = directory.path().join(TREES).join(KEYSPACES);
    let mut read = Inventory::take(&keyspaces, None, true).unwrap();
    for tree in Tree::ALL {
        let path = disk.keyspace(tree).path();
        let list = manifest::read(path).unwrap().unwrap();
        assert!(list.files.iter().any(|file| file.kind == manifest::FileKind::Table), "{tree:?}");
        let blobs = list.files.iter().any(|file| file.kind == manifest::FileKind::Blob);
        assert_eq!(blobs, tree == Tree::Large);
    }
    // A compaction may have come in between.
    disk.take_inventory().unwrap();
    let mut noted = Inventory::read(directory.path()).unwrap().unwrap();
    for _ in 0..100 {
        read = Inventory::take(&keyspaces, None, true).unwrap();
        (read.names, read.synced, read.start) = (noted.names, noted.synced, noted.start);
        if read == noted {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
        disk.take_inventory().unwrap();
        noted = Inventory::read(directory.path()).unwrap().unwrap();
    }
    assert_eq!(read, noted);
    for tree in Tree::ALL {
        let live = disk.keyspace(tree).tree.get_highest_persisted_seqno();
        assert_eq!(noted.last(tree), live);
    }
}

/// A full disk has less room than a tree takes of which everything was removed.
#[test]
fn a_tree_that_was_emptied_is_given_back_however_large_it_was() {
    const VALUES: u32 = 40;
    const VALUE_BYTES: usize = 200_000;
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::open(directory.path(), Books::Required).unwrap();
    let text =
        |number: u32| (0..VALUE_BYTES).map(|at| (at as u32 ^ (number * 7919)) as u8).collect();
    for number in 0..VALUES {
        disk.apply(vec![change(Tree::Large, number, Some(text(number)))]).unwrap();
    }
    disk.reclaim(0, 0).unwrap();
    let full = disk.keyspace(Tree::Large).disk_space();
    let removed = (0..VALUES).map(|number| change(Tree::Large, number, None)).collect();
    disk.apply(removed).unwrap();
    // What is left is more than there is room for,
    disk.reclaim(full / 4, full).unwrap();
    assert!(disk.keyspace(Tree::Large).disk_space() > full / 2);
    // or nothing.
    disk.reclaim(full / 4, 0).unwrap();
    disk.release().unwrap();
    assert!(disk.keyspace(Tree::Large).disk_space() < full / 8);
}
