//! Files that nobody but the server's user may look into.

use std::fs::{DirBuilder, Permissions};
use std::io::Result;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// What a mode gives to others than the owner.
const OTHERS: u32 = 0o077;

/// Makes a directory, and those above it that are missing.
pub fn create(directory: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(directory)
}

/// Takes from others what they may do with a directory and with what is in it, and says of
/// how many files. Links are left alone.
pub fn tighten(directory: &Path) -> Result<u64> {
    let mut count = u64::from(tighten_one(directory, DIRECTORY_MODE)?);
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            count += tighten(&entry.path())?;
        } else if kind.is_file() {
            // The storage engine may remove it meanwhile.
            match tighten_one(&entry.path(), FILE_MODE) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                tightened => count += u64::from(tightened?),
            }
        }
    }
    Ok(count)
}

fn tighten_one(path: &Path, mode: u32) -> Result<bool> {
    let is_loose = std::fs::metadata(path)?.permissions().mode() & OTHERS != 0;
    if is_loose {
        std::fs::set_permissions(path, Permissions::from_mode(mode))?;
    }
    Ok(is_loose)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_could_read_they_cannot_any_more() {
        let home = tempfile::tempdir().unwrap();
        let (store, outer) = (home.path().join("store"), home.path().join("outer"));
        create(&store.join("deep")).unwrap();
        let file = store.join("deep/file");
        for path in [&file, &outer] {
            std::fs::write(path, "").unwrap();
            std::fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
        }
        std::os::unix::fs::symlink(&outer, store.join("link")).unwrap();
        std::fs::set_permissions(&store, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(tighten(&store).unwrap(), 2);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&store), mode(&store.join("deep")), mode(&file)], [0o700, 0o700, 0o600]);
        assert_eq!(mode(&outer), 0o644);
        assert_eq!(tighten(&store).unwrap(), 0);
    }
}
