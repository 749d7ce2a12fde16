//! Where backups may be written: below one directory, named when the server starts. A path
//! outside of it is refused without a look at the file system.

use crate::storage::private;
use error::{Code, Error, Result};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

#[derive(Debug)]
pub struct Backups {
    /// As it was given, and as it is without links.
    given: PathBuf,
    real: PathBuf,
}

impl Backups {
    /// The directory, made if it is not there. Copies of a store do not lie in it.
    pub fn open(directory: &Path, data: &Path) -> std::io::Result<Backups> {
        private::create(directory)?;
        let given = std::path::absolute(directory)?;
        let real = directory.canonicalize()?;
        let data = match data.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => std::path::absolute(data),
            data => data,
        };
        if real.starts_with(data?) {
            return Err(std::io::Error::new(
                ErrorKind::InvalidInput,
                "it lies in the directory of the data",
            ));
        }
        Ok(Backups { given, real })
    }

    /// Where a copy of this name goes: a path below the directory, or one that begins with it.
    /// The directories on the way to it are made; there may be no link among them.
    pub fn place(&self, name: &str) -> Result<PathBuf> {
        let path = Path::new(name);
        let below = match path.is_absolute() {
            false => path,
            true => [&self.given, &self.real]
                .into_iter()
                .find_map(|root| path.strip_prefix(root).ok())
                .ok_or_else(outside)?,
        };
        let mut place = self.real.clone();
        let is_here = |name: &Component<'_>| matches!(name, Component::CurDir);
        let mut names = below.components().filter(|name| !is_here(name)).peekable();
        if names.peek().is_none() {
            return Err(outside());
        }
        while let Some(name) = names.next() {
            let Component::Normal(name) = name else { return Err(outside()) };
            place.push(name);
            enter(&place, names.peek().is_some())?;
        }
        Ok(place)
    }
}

/// Makes sure that what is there is a directory, and no link to one; makes it if it is on
/// the way to another.
fn enter(place: &Path, make: bool) -> Result<()> {
    match std::fs::symlink_metadata(place) {
        Ok(file) if file.is_dir() => Ok(()),
        Ok(_) => Err(outside()),
        Err(error) if error.kind() == ErrorKind::NotFound => match make {
            true => private::create(place).map_err(|error| failed(&error)),
            false => Ok(()),
        },
        Err(error) => Err(failed(&error)),
    }
}

fn outside() -> Error {
    Code::BadValue.error(
        "the directory of a backup must be a new or empty one below the directory that the server \
         was started with (--backups), without '..' and symbolic links",
    )
}

fn failed(error: &std::io::Error) -> Error {
    Code::OperationFailed.error(format!("cannot write to the directory of backups: {error}"))
}

/// Why a server without such a directory makes no copies.
pub fn none() -> Error {
    Code::IllegalOperation.error(
        "this server makes no backups: it was started without a directory for them; start it \
         with --backups DIR",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_go_below_the_directory_and_nowhere_else() {
        let home = tempfile::tempdir().unwrap();
        let (root, outer) = (home.path().join("backups"), home.path().join("outer"));
        std::fs::create_dir(&outer).unwrap();
        let backups = Backups::open(&root, &home.path().join("data")).unwrap();
        let root = root.canonicalize().unwrap();
        std::os::unix::fs::symlink(&outer, root.join("link")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        assert_eq!(backups.place("monday").unwrap(), root.join("monday"));
        assert_eq!(backups.place("./a//b/").unwrap(), root.join("a/b"));
        assert!(root.join("a").is_dir() && !root.join("a/b").exists());
        let whole = root.join("whole").to_str().unwrap().to_owned();
        assert_eq!(backups.place(&whole).unwrap(), root.join("whole"));
        let absolute = |path: &Path| path.to_str().unwrap().to_owned();
        let beside = absolute(&root) + "-beside/x";
        for name in [
            "",
            ".",
            "..",
            "../outer",
            "a/../../outer",
            "link",
            "link/x",
            "file",
            "file/x",
            "/",
            "/etc",
            "/nowhere/at/all",
            &absolute(&outer),
            &absolute(&root),
            &beside,
            &(absolute(&root) + "/../outer"),
        ] {
            let refused = backups.place(name).unwrap_err();
            assert_eq!(refused.message(), outside().message(), "{name}");
        }
        assert_eq!(std::fs::read_dir(&outer).unwrap().count(), 0);
    }

    #[test]
    fn copies_do_not_lie_in_the_store() {
        let home = tempfile::tempdir().unwrap();
        for place in ["", "backups"] {
            assert!(Backups::open(&home.path().join(place), home.path()).is_err());
        }
    }
}
