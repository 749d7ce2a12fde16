//! Dotted paths.

/// `a.b.0.c`, split once. Empty components are kept as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    text: Box<str>,
    /// Where each component ends in `text`.
    ends: Box<[u32]>,
}

impl Path {
    pub fn new(text: &str) -> Path {
        let ends =
            text.match_indices('.').map(|(at, _)| at as u32).chain([text.len() as u32]).collect();
        Path { text: text.into(), ends }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A path has at least one component, if an empty one.
    pub fn is_empty(&self) -> bool {
        false
    }

    pub fn component(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize + 1 };
        &self.text[start..self.ends[at] as usize]
    }

    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        (0..self.len()).map(|at| self.component(at))
    }

    /// Whether one path is the other or a prefix of it, component-wise.
    pub fn overlaps(&self, other: &Path) -> bool {
        self.components().zip(other.components()).all(|(a, b)| a == b)
    }
}
