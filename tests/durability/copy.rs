//! A store's directory as a killed process leaves it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A place for stores that are opened again and again: in memory, where there is
/// such a file system, since nobody cuts the power here.
pub fn home() -> TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap()
}

/// Copies a directory. What a journal has set aside behind its end stays a hole.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            let mut file = File::create(target).unwrap();
            file.write_all(&written(&entry.path())).unwrap();
            file.set_len(entry.metadata().unwrap().len()).unwrap();
        }
    }
}

/// A file's bytes up to the last that is not zero.
pub fn written(path: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    // A journal sets megabytes aside.
    while bytes.ends_with(&[0; 65_536]) {
        bytes.truncate(bytes.len() - 65_536);
    }
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(end);
    bytes
}

/// Every file below a directory, relative to it.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(directory).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

pub fn flip(path: &Path, at: u64, bit: u8) {
    let mut file = File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[byte[0] ^ (1 << bit)]).unwrap();
}
