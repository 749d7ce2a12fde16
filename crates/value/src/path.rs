//! Dotted paths.

use rustc_hash::FxHashSet;
use std::sync::Arc;

/// `a.b.0.c`, split once. Empty components are kept as they are. A copy is cheap: every update
/// copies those that its validator looks at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    text: Arc<str>,
    /// Where each component ends in `text`.
    ends: Arc<[u32]>,
}

impl Path {
    pub fn new(text: &str) -> Path {
        let ends =
            text.match_indices('.').map(|(at, _)| at as u32).chain([text.len() as u32]).collect();
        Path { text: text.into(), ends }
    }

    #[inline]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A path has at least one component, if an empty one.
    pub fn is_empty(&self) -> bool {
        false
    }

    #[inline]
    pub fn component(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize + 1 };
        &self.text[start..self.ends[at] as usize]
    }

    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        (0..self.len()).map(|at| self.component(at))
    }

    pub fn first(&self) -> &str {
        self.component(0)
    }

    pub fn last(&self) -> &str {
        self.component(self.len() - 1)
    }

    /// The path without its last component, if it has more than one.
    pub fn parent(&self) -> Option<Path> {
        self.prefix(self.len() - 1)
    }

    /// The first `len` components; `None` for none of them or more than there are.
    pub fn prefix(&self, len: usize) -> Option<Path> {
        let at = len.checked_sub(1)?;
        let end = *self.ends.get(at)? as usize;
        Some(Path { text: self.text[..end].into(), ends: self.ends[..len].into() })
    }

    /// The path with further components behind: `a.b` and `c.d` give `a.b.c.d`.
    pub fn join(&self, rest: &str) -> Path {
        Path::new(&format!("{}.{rest}", self.text))
    }

    /// The text from component `at` on.
    pub fn tail(&self, at: usize) -> &str {
        match at.checked_sub(1).and_then(|before| self.ends.get(before)) {
            Some(end) => self.text.get(*end as usize + 1..).unwrap_or(""),
            None => &self.text,
        }
    }

    /// The texts of its prefixes, without itself.
    pub fn above(&self) -> impl Iterator<Item = &str> {
        let (_, ends) = self.ends.split_last().unwrap_or((&0, &[]));
        ends.iter().filter_map(|end| self.text.get(..*end as usize))
    }

    /// Whether one path is the other or a prefix of it, component-wise.
    pub fn overlaps(&self, other: &Path) -> bool {
        self.components().zip(other.components()).all(|(a, b)| a == b)
    }

    /// Whether this is the other path or a prefix of it, component-wise.
    pub fn is_prefix_of(&self, other: &Path) -> bool {
        self.len() <= other.len() && self.overlaps(other)
    }

    /// The component as an array index, if it is one: digits without a zero in
    /// front, as MongoDB reads them.
    pub fn index(&self, at: usize) -> Option<usize> {
        array_index(self.component(at))
    }

    /// Whether any component is an array index.
    pub fn has_index(&self) -> bool {
        self.components().any(|component| array_index(component).is_some())
    }
}

/// Paths that are apart from each other, and whether a further one is.
#[derive(Debug, Default)]
pub struct Apart<'a> {
    paths: FxHashSet<&'a str>,
    /// What they begin with.
    above: FxHashSet<&'a str>,
}

impl<'a> Apart<'a> {
    /// Adds a path; false where it overlaps one of those that were added.
    pub fn add(&mut self, path: &'a Path) -> bool {
        let is_below = path.above().any(|above| self.paths.contains(above));
        if is_below || self.above.contains(path.as_str()) || !self.paths.insert(path.as_str()) {
            return false;
        }
        self.above.extend(path.above());
        true
    }

    /// Whether all of these are apart.
    pub fn all(paths: impl IntoIterator<Item = &'a Path>) -> bool {
        let mut apart = Apart::default();
        paths.into_iter().all(|path| apart.add(path))
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// The array index that a path's component spells: digits, no zero in front but
/// for "0" itself.
pub fn array_index(component: &str) -> Option<usize> {
    let digits = component.as_bytes();
    match digits {
        [b'0'] => Some(0),
        [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => component.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_and_join() {
        let path = Path::new("a.b.0");
        assert_eq!(path.components().collect::<Vec<_>>(), ["a", "b", "0"]);
        assert_eq!((path.first(), path.last()), ("a", "0"));
        assert_eq!(path.parent(), Some(Path::new("a.b")));
        assert_eq!(Path::new("a").parent(), None);
        assert_eq!(path.prefix(1), Some(Path::new("a")));
        assert_eq!(path.prefix(4), None);
        assert_eq!((path.tail(0), path.tail(1), path.tail(3)), ("a.b.0", "b.0", ""));
        assert_eq!(path.join("x.y"), Path::new("a.b.0.x.y"));
        assert_eq!(Path::new("a..b").len(), 3);
    }

    #[test]
    fn prefixes_go_by_component() {
        let prefix = |a, b| Path::new(a).is_prefix_of(&Path::new(b));
        assert!(prefix("a", "a.b") && prefix("a.b", "a.b"));
        assert!(!prefix("a.b", "a") && !prefix("a", "ab"));
        assert!(Path::new("a.b").overlaps(&Path::new("a")));
    }

    #[test]
    fn paths_are_apart_unless_they_overlap() {
        let paths = ["a.b", "a.c", "ab", "a.b.c", "a", "ab", "x.y.z", "x.y", "x.yz"].map(Path::new);
        let mut apart = Apart::default();
        let added: Vec<bool> = paths.iter().map(|path| apart.add(path)).collect();
        assert_eq!(added, [true, true, true, false, false, false, true, false, true]);
        assert!(Apart::all(&paths[..3]) && !Apart::all(&paths[..4]));
    }

    #[test]
    fn indexes_are_plain_digits() {
        assert_eq!(array_index("0"), Some(0));
        assert_eq!(array_index("17"), Some(17));
        for other in ["", "00", "01", "-1", "+1", "1a", "99999999999999999999999"] {
            assert_eq!(array_index(other), None, "{other}");
        }
        assert!(Path::new("a.0.b").has_index() && !Path::new("a.b").has_index());
    }
}
