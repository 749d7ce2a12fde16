//! Which parts of a document a computation looks at. The engine loads large
//! values only where they are needed.

use value::Path;

#[derive(Debug, Clone, PartialEq)]
pub enum Needs {
    All,
    Paths(Vec<Path>),
}

impl Needs {
    pub fn none() -> Needs {
        Needs::Paths(Vec::new())
    }

    pub fn add(&mut self, path: &Path) {
        if let Needs::Paths(paths) = self
            && !paths.contains(path)
        {
            paths.push(path.clone());
        }
    }

    pub fn all(&mut self) {
        *self = Needs::All;
    }

    pub fn merge(&mut self, other: &Needs) {
        match other {
            Needs::All => self.all(),
            Needs::Paths(paths) => paths.iter().for_each(|path| self.add(path)),
        }
    }

    /// Whether the value at `path` is looked at, as a whole or in part.
    pub fn contains(&self, path: &Path) -> bool {
        match self {
            Needs::All => true,
            Needs::Paths(paths) => paths.iter().any(|needed| needed.overlaps(path)),
        }
    }
}
