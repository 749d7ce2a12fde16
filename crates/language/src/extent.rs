//! How much of an array a computation looks at, where that is not all of it.

use value::Path;

/// What a component of a path begins with that stands for an extent: no field is called so.
const MARK: char = '\0';

/// Up to how many elements at an end are looked at by themselves.
const ELEMENTS_MAX: usize = 1_000;

/// Whether it is there, in any case; and more of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// How many elements it has.
    pub len: bool,
    /// So many elements at its beginning,
    pub first: usize,
    /// and at its end.
    pub last: usize,
}

impl Extent {
    pub const LEN: Extent = Extent { len: true, first: 0, last: 0 };

    /// `None` if that is too much to be looked at by itself.
    pub fn first(elements: usize) -> Option<Extent> {
        (elements <= ELEMENTS_MAX).then_some(Extent { first: elements, ..Extent::default() })
    }

    /// `None` if that is too much to be looked at by itself.
    pub fn last(elements: usize) -> Option<Extent> {
        (elements <= ELEMENTS_MAX).then_some(Extent { last: elements, ..Extent::default() })
    }

    pub fn merge(&mut self, other: Extent) {
        self.len |= other.len;
        self.first = self.first.max(other.first);
        self.last = self.last.max(other.last);
    }

    /// As something below the array, which it is: who does not know of extents takes it for a
    /// part of the array.
    pub fn below(self, array: &Path) -> Path {
        let Extent { len, first, last } = self;
        array.join(&format!("{MARK}{}-{first}-{last}", u8::from(len)))
    }

    /// Makes a path that names an extent that of the array.
    pub fn widen(path: &mut Path) {
        if path.last().starts_with(MARK)
            && let Some(array) = path.parent()
        {
            *path = array;
        }
    }

    /// The extent that a path names below an array.
    pub fn read(path: &Path, array: &Path) -> Option<Extent> {
        let mut parts = path.tail(array.len()).strip_prefix(MARK)?.split('-');
        let mut part = || parts.next().and_then(|part| part.parse().ok());
        Some(Extent { len: part()? == 1, first: part()?, last: part()? })
    }
}
