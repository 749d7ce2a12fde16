//! Which parts of a document a computation looks at. The engine loads large
//! values only where they are needed.

use crate::Extent;
use rustc_hash::FxHashSet;
use value::Path;

/// Up to how many paths a further one is compared with each.
const COMPARED_PATHS_MAX: usize = 16;

#[derive(Debug, Clone, PartialEq)]
pub enum Needs {
    All,
    /// These values, as a whole or in part, and nothing else.
    Paths(Vec<Path>),
    /// Everything but these values.
    Except(Vec<Path>),
}

impl Needs {
    pub fn none() -> Needs {
        Needs::Paths(Vec::new())
    }

    pub fn add(&mut self, path: &Path) {
        match self {
            Needs::All => {}
            Needs::Paths(paths) => push(paths, path),
            Needs::Except(paths) => {
                paths.retain(|except| !except.overlaps(path));
                self.settle();
            }
        }
    }

    /// Adds a part of the value at `path`, if it is an array.
    pub fn add_extent(&mut self, path: &Path, extent: Extent) {
        self.add(&extent.below(path));
    }

    /// What is looked at of the array at `path`; `None` if that may be all of it.
    pub fn extent(&self, path: &Path) -> Option<Extent> {
        let Needs::Paths(paths) = self else { return None };
        let mut extent = Extent::default();
        for needed in paths.iter().filter(|needed| needed.overlaps(path)) {
            extent.merge(Extent::read(needed, path)?);
        }
        Some(extent)
    }

    /// Takes arrays that are looked at in part as looked at whole.
    pub fn widen(&mut self) {
        if let Needs::Paths(paths) = self {
            paths.iter_mut().for_each(Extent::widen);
        }
    }

    pub fn all(&mut self) {
        *self = Needs::All;
    }

    /// Adds everything but the values at `paths`.
    pub fn all_except(&mut self, paths: Vec<Path>) {
        let mut except = Needs::Except(paths);
        std::mem::swap(self, &mut except);
        self.merge(&except);
        self.settle();
    }

    /// Everything but nothing is everything.
    fn settle(&mut self) {
        if matches!(self, Needs::Except(paths) if paths.is_empty()) {
            self.all();
        }
    }

    pub fn merge(&mut self, other: &Needs) {
        match (&mut *self, other) {
            (_, Needs::All) => self.all(),
            (Needs::Except(mine), Needs::Paths(paths)) => {
                let looked_at = Family::of(paths);
                mine.retain(|except| !looked_at.overlaps(except));
                self.settle();
            }
            (_, Needs::Paths(paths)) => paths.iter().for_each(|path| self.add(path)),
            (Needs::All, Needs::Except(_)) => {}
            (Needs::Paths(_), Needs::Except(paths)) => self.all_except(paths.clone()),
            (Needs::Except(mine), Needs::Except(theirs)) => {
                let (ours, others) = (Family::of(mine), Family::of(theirs));
                let mine_left = mine.iter().filter(|path| others.covers(path));
                let theirs_left = theirs.iter().filter(|path| ours.covers(path));
                let mut seen = FxHashSet::default();
                let both = mine_left.chain(theirs_left);
                let both = both.filter(|path| seen.insert(path.as_str())).cloned().collect();
                *mine = both;
                self.settle();
            }
        }
    }

    /// Whether the value at `path` is looked at, as a whole or in part.
    pub fn contains(&self, path: &Path) -> bool {
        match self {
            Needs::All => true,
            Needs::Paths(paths) => paths.iter().any(|needed| needed.overlaps(path)),
            Needs::Except(paths) => {
                !paths.iter().any(|except| except.len() <= path.len() && except.overlaps(path))
            }
        }
    }
}

impl Needs {
    /// Whether the value at one of these paths is looked at.
    pub fn contains_any(&self, others: &[Path]) -> bool {
        match self {
            Needs::All => !others.is_empty(),
            Needs::Paths(paths) => {
                let family = Family::of(paths);
                others.iter().any(|path| family.overlaps(path))
            }
            Needs::Except(paths) => {
                let family = Family::of(paths);
                !others.iter().all(|path| family.covers(path))
            }
        }
    }
}

/// Paths and what they begin with, so that others are compared with all of them at once.
struct Family<'a> {
    paths: FxHashSet<&'a str>,
    above: FxHashSet<&'a str>,
}

impl<'a> Family<'a> {
    fn of(paths: &'a [Path]) -> Family<'a> {
        Family {
            paths: paths.iter().map(Path::as_str).collect(),
            above: paths.iter().flat_map(Path::above).collect(),
        }
    }

    /// Whether the path is one of them, or below one.
    fn covers(&self, path: &Path) -> bool {
        self.paths.contains(path.as_str()) || path.above().any(|above| self.paths.contains(above))
    }

    /// Whether the path is one of them, above one or below one.
    fn overlaps(&self, path: &Path) -> bool {
        self.covers(path) || self.above.contains(path.as_str())
    }
}

/// Adds a path that may be there. Beyond a few, duplicates go only when the list would have to
/// grow, so that many paths are added in little time.
fn push(paths: &mut Vec<Path>, path: &Path) {
    if paths.len() <= COMPARED_PATHS_MAX {
        if paths.contains(path) {
            return;
        }
    } else if paths.len() == paths.capacity() {
        let mut seen = FxHashSet::default();
        paths.retain(|path| seen.insert(path.clone()));
        paths.reserve(paths.len());
    }
    paths.push(path.clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn except(paths: &[&str]) -> Needs {
        Needs::Except(paths.iter().map(|path| Path::new(path)).collect())
    }

    #[test]
    fn what_is_excepted_is_not_contained() {
        let needs = except(&["a", "b.c"]);
        for (path, contained) in [
            ("a", false),
            ("a.x", false),
            ("b", true),
            ("b.c", false),
            ("b.c.d", false),
            ("d", true),
        ] {
            assert_eq!(needs.contains(&Path::new(path)), contained, "{path}");
            assert_eq!(needs.contains_any(&[Path::new(path)]), contained, "{path}");
        }
    }

    #[test]
    fn merging_needs_what_either_needs() {
        let mut needs = Needs::Paths(vec![Path::new("a.x")]);
        needs.merge(&except(&["a", "b"]));
        assert_eq!(needs, except(&["b"]));
        needs.merge(&except(&["b.c", "d"]));
        assert_eq!(needs, except(&["b.c"]));
        needs.add(&Path::new("b"));
        assert_eq!(needs, Needs::All);
    }

    #[test]
    fn parts_of_an_array_add_up_until_all_of_it_is_needed() {
        let (path, inner) = (Path::new("s.a"), Path::new("s.a.x"));
        let mut needs = Needs::none();
        needs.add(&Path::new("s.b"));
        needs.add_extent(&path, Extent::LEN);
        needs.add_extent(&path, Extent { first: 2, ..Extent::default() });
        needs.add_extent(&path, Extent { last: 1, ..Extent::default() });
        assert!(needs.contains(&path) && needs.contains(&Path::new("s")));
        assert_eq!(needs.extent(&path), Some(Extent { len: true, first: 2, last: 1 }));
        for whole in [Path::new("s"), path.clone(), inner.clone()] {
            let mut needs = needs.clone();
            needs.add(&whole);
            assert_eq!(needs.extent(&path), None, "{whole}");
        }
        needs.add_extent(&inner, Extent::LEN);
        assert_eq!((needs.extent(&path), needs.extent(&inner)), (None, Some(Extent::LEN)));
    }

    #[test]
    fn many_paths_are_added_in_little_time() {
        let many: Vec<Path> = (0..100_000).map(|at| Path::new(&format!("field{at}"))).collect();
        let mut needs = Needs::none();
        for _ in 0..10 {
            many.iter().for_each(|path| needs.add(path));
        }
        let Needs::Paths(paths) = &needs else { panic!("{needs:?}") };
        assert!(paths.len() < 3 * many.len(), "{}", paths.len());
        assert!(many.iter().step_by(10_000).all(|path| needs.contains(path)));
    }
}
