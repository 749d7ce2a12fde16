//! What the store is made of, written down in a file of its own.
//!
//! It lists every tree with the number of its list of files, and every file with its length,
//! its checksum and a mark of its end, which no two files have in common. At the next start a
//! tree whose list is older than that is refused. A file that is still as it was noted is
//! taken for sound, since its blocks carry checksums; any other, made after the last note or
//! put there by someone, is read whole and compared with the checksum in the tree's list.
//!
//! The note may be behind what there is, never ahead, so it is written now and then and at a
//! clean stop, and says how far the store had been synced by then, see `watermark`. It is
//! written before the trees are made, and names none: a store that has a batch has more than
//! that. In stores of earlier formats it may be missing; then everything is read whole.
//!
//! ```text
//! freeboard inventory 1
//! tree <number> <list>
//! names <number of records> <of entries> <of large values>
//! synced <number> <touched records> <entries> <large values>
//! start <number of the start that wrote it>
//! table|blob <tree> <id> <bytes> <checksum> <end> <last sequence number>
//! check <XXH3 of the lines before>
//! ```

use super::Fault;
use super::manifest::{self, FileKind, ListedFile};
use super::watermark::Reached;
use crate::storage::trees::Tree;
use lsm_tree::{Cache, Checksum, Table};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

pub const NAME: &str = "INVENTORY";
/// While it is being written.
const NEW_NAME: &str = "INVENTORY.new";
const TITLE: &str = "freeboard inventory 1";
/// How much of the end of a file is hashed: it holds the number and the time of creation.
const END_BYTES: u64 = 4_096;
/// What is read of a file at once.
const CHUNK_BYTES: usize = 1024 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The numbers of the lists, by the numbers of the trees.
    lists: BTreeMap<u64, u64>,
    /// The numbers of the three trees of ours, once they are known.
    pub names: Option<[u64; 3]>,
    /// How far the store had been synced.
    pub synced: Reached,
    /// Starts of the store are numbered. The watermarks have the number of a start before this.
    pub start: u64,
    files: BTreeMap<(u64, FileKind, u64), Noted>,
}

/// A file as it was when it was noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Noted {
    bytes: u64,
    sum: u128,
    end: u64,
    /// The last sequence number in a table.
    last: u64,
}

impl Inventory {
    /// Reads what was noted; `None` if that is not there or does not read.
    pub fn read(directory: &Path) -> std::io::Result<Option<Inventory>> {
        match std::fs::read_to_string(directory.join(NAME)) {
            Ok(text) => Ok(parse(&text)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the place of what was noted before. A store does not open without it, so it is
    /// synced.
    pub fn write(&self, directory: &Path) -> std::io::Result<()> {
        let new = directory.join(NEW_NAME);
        let mut file = File::create(&new)?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()?;
        std::fs::rename(new, directory.join(NAME))?;
        File::open(directory)?.sync_all()
    }

    /// Whether it names trees, as it does once they have been made.
    pub fn names_trees(&self) -> bool {
        !self.lists.is_empty()
    }

    /// Whether the trees had all been made, or held something. Of others a first start that was
    /// cut off may have noted one that fjall removes at the next.
    fn is_of_finished_trees(&self) -> bool {
        self.names.is_some() || !self.files.is_empty() || self.synced.number > 0
    }

    /// What there is, compared with what was noted. Where `whole`, a file that is not as it
    /// was noted must fit the checksum in its tree's list.
    pub fn take(
        keyspaces: &Path,
        noted: Option<&Inventory>,
        whole: bool,
    ) -> Result<Inventory, Fault> {
        let names = noted.and_then(|noted| noted.names);
        let synced = noted.map(|noted| noted.synced).unwrap_or_default();
        let mut found = Inventory { names, synced, ..Inventory::default() };
        for (number, path) in manifest::trees(keyspaces)? {
            let Some(list) = manifest::read(&path)? else { continue };
            found.lists.insert(number, list.number);
            for file in &list.files {
                let place = (number, file.kind, file.id);
                let noted = noted.and_then(|noted| noted.files.get(&place));
                found.files.insert(place, look(&path, file, noted, whole)?);
            }
        }
        let noted = noted.filter(|noted| noted.is_of_finished_trees());
        let lists = noted.into_iter().flat_map(|noted| &noted.lists);
        for (number, list) in lists {
            let path = keyspaces.join(number.to_string());
            match found.lists.get(number) {
                None => return Err(Fault::missing(&path)),
                Some(now) if now < list => {
                    return Err(Fault::Damage(format!(
                        "{} is from an older copy: its list of files has number {now}, and {list} \
                         was written",
                        path.display()
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(found)
    }

    /// The last sequence number in the tables of a tree, if its number is known.
    pub fn last(&self, tree: Tree) -> Option<u64> {
        let number = self.names?[tree as usize];
        let files = self.files.range((number, FileKind::Table, 0)..(number, FileKind::Blob, 0));
        Some(files.map(|(_, noted)| noted.last).max().unwrap_or(0))
    }

    /// Whether the lists of the trees are still those.
    pub fn is_current(&self, keyspaces: &Path) -> bool {
        let Ok(trees) = manifest::trees(keyspaces) else { return false };
        let number = |path: &Path| manifest::read(path).ok().flatten().map(|list| list.number);
        trees.len() == self.lists.len()
            && trees.iter().all(|(tree, path)| number(path).as_ref() == self.lists.get(tree))
    }

    fn text(&self) -> String {
        let mut text = format!("{TITLE}\n");
        // Writing to a string does not fail.
        for (number, list) in &self.lists {
            let _ = writeln!(text, "tree {number} {list}");
        }
        if let Some([records, entries, large]) = self.names {
            let _ = writeln!(text, "names {records} {entries} {large}");
        }
        let Reached { number, touched: [records, entries, large] } = self.synced;
        let _ = writeln!(text, "synced {number} {records} {entries} {large}");
        let _ = writeln!(text, "start {}", self.start);
        for ((tree, kind, id), Noted { bytes, sum, end, last }) in &self.files {
            let kind = match kind {
                FileKind::Table => "table",
                FileKind::Blob => "blob",
            };
            let _ = writeln!(text, "{kind} {tree} {id} {bytes} {sum:032x} {end:016x} {last}");
        }
        let check = xxh3_64(text.as_bytes());
        let _ = writeln!(text, "check {check:016x}");
        text
    }
}

fn parse(text: &str) -> Option<Inventory> {
    let (lines, check) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let lines = text.get(..lines.len() + 1)?;
    let check = u64::from_str_radix(check.strip_prefix("check ")?, 16).ok()?;
    if xxh3_64(lines.as_bytes()) != check {
        return None;
    }
    let mut lines = lines.lines();
    if lines.next()? != TITLE {
        return None;
    }
    let mut inventory = Inventory::default();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at)?.parse::<u64>().ok();
        match *words.first()? {
            "tree" => {
                inventory.lists.insert(number(1)?, number(2)?);
            }
            "names" => inventory.names = Some([number(1)?, number(2)?, number(3)?]),
            "synced" => {
                let touched = [number(2)?, number(3)?, number(4)?];
                inventory.synced = Reached { number: number(1)?, touched };
            }
            "start" => inventory.start = number(1)?,
            kind @ ("table" | "blob") => {
                let kind = if kind == "table" { FileKind::Table } else { FileKind::Blob };
                let noted = Noted {
                    bytes: number(3)?,
                    sum: u128::from_str_radix(words.get(4)?, 16).ok()?,
                    end: u64::from_str_radix(words.get(5)?, 16).ok()?,
                    last: number(6)?,
                };
                inventory.files.insert((number(1)?, kind, number(2)?), noted);
            }
            _ => return None,
        }
    }
    Some(inventory)
}

/// Looks at a file that the list of a tree names.
fn look(
    tree: &Path,
    listed: &ListedFile,
    noted: Option<&Noted>,
    whole: bool,
) -> Result<Noted, Fault> {
    let path = listed.path(tree);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Fault::missing(&path)),
        Err(error) => return Err(error.into()),
    };
    let bytes = file.metadata()?.len();
    let end = end(&file, bytes)?;
    if let Some(noted) = noted
        && (noted.bytes, noted.sum, noted.end) == (bytes, listed.sum, end)
    {
        return Ok(*noted);
    }
    if whole && sum(file)? != listed.sum {
        return Err(Fault::Damage(format!("{} is not the file that was written", path.display())));
    }
    let last = match listed.kind {
        FileKind::Table => last(&path, listed)?,
        FileKind::Blob => 0,
    };
    Ok(Noted { bytes, sum: listed.sum, end, last })
}

fn end(file: &File, bytes: u64) -> std::io::Result<u64> {
    let length = bytes.min(END_BYTES);
    let mut end = vec![0; length as usize];
    file.read_exact_at(&mut end, bytes - length)?;
    Ok(xxh3_64(&end))
}

fn sum(mut file: File) -> std::io::Result<u128> {
    let mut hasher = Xxh3Default::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hasher.digest128()),
            read => hasher.update(&chunk[..read]),
        }
    }
}

/// The last sequence number in a table, from its metadata.
fn last(path: &Path, listed: &ListedFile) -> Result<u64, Fault> {
    let cache = Arc::new(Cache::with_capacity_bytes(0));
    let sum = Checksum::from_raw(listed.sum);
    let table = Table::recover(path.to_owned(), sum, listed.base, 0, cache, None, false, false);
    Ok(table.map_err(fjall::Error::from)?.get_highest_seqno())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A first start that is killed may have noted a tree that fjall does not know yet. The next
    /// removes it, and may be killed before that is noted.
    #[test]
    fn a_tree_that_was_never_finished_is_not_missed() {
        let keyspaces = tempfile::tempdir().unwrap();
        let begun = Inventory { lists: BTreeMap::from([(2, 0)]), ..Inventory::default() };
        Inventory::take(keyspaces.path(), Some(&begun), true).unwrap();
        let finished = Inventory { names: Some([1, 2, 3]), ..begun };
        Inventory::take(keyspaces.path(), Some(&finished), true).unwrap_err();
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else_is() {
        let directory = tempfile::tempdir().unwrap();
        let noted = Noted { bytes: 5, sum: u128::MAX - 3, end: 7, last: 9 };
        let inventory = Inventory {
            lists: BTreeMap::from([(0, 3), (1, 12)]),
            names: Some([1, 2, 4]),
            synced: Reached { number: 20, touched: [19, 18, 0] },
            start: 4,
            files: BTreeMap::from([
                ((1, FileKind::Table, 0), noted),
                ((4, FileKind::Blob, 8), noted),
            ]),
        };
        assert_eq!(Inventory::read(directory.path()).unwrap(), None);
        inventory.write(directory.path()).unwrap();
        assert_eq!(Inventory::read(directory.path()).unwrap().as_ref(), Some(&inventory));
        let text = inventory.text();
        for length in 0..text.len() {
            assert_eq!(parse(&text[..length]), None, "the first {length} bytes");
        }
    }
}
