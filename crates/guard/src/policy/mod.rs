//! What a policy says: bounds of documents and arrays, and what happens there.
//!
//! A policy is one document, the same in a file, over the wire and in storage.
//! `parse` turns it into a `Policy` or says which key is wrong and what was
//! expected; a `Policy` that exists has passed every check that needs no other
//! policy (`Table::check` has the rest).

mod array;
mod check;
mod diff;
mod document;
pub mod file;
mod key;
pub mod legacy;
mod overflow;
mod reader;
mod salvage;
pub mod size;

pub use diff::diff;
pub use key::{KEYS, Key};
pub use salvage::salvage;

use crate::patterns::place::EMPTY_ARRAY_BYTES;
use bson::RawDocument;
use command::Namespace;
use error::Result;
use reader::Reader;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use value::Path;
use value::element::KeyLengths;

/// Up to so many rules a field is compared with each.
const LOOKED_AT_MAX: usize = 8;

/// The policy of one collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub namespace: Namespace,
    pub document: DocumentBounds,
    pub undeclared: Undeclared,
    pub arrays: Vec<ArrayRule>,
    /// It is being left: it holds only for documents that have something to restore. The others
    /// are written as if there were no policy, so that none overflows again.
    pub leaving: bool,
    pub(crate) digest: Digest,
}

/// What every write needs of a policy, derived from its rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Digest {
    /// How long the paths are of the arrays and of what counts them,
    pub paths: KeyLengths,
    /// and the names of the fields that those begin with.
    pub roots: KeyLengths,
    /// Whether all of them are fields of the document itself.
    pub is_flat: bool,
    /// What each of those fields is, by its name; empty while a look at each rule is quicker.
    pub fields: Arc<FxHashMap<Box<[u8]>, Field>>,
    /// Whether some arrays overflow,
    pub overflows: bool,
    /// and some are shown whole.
    pub merges: bool,
    /// What an array that the policy does not name weighs at least once it is over its cap;
    /// where there is none, more than any does.
    pub undeclared_bytes: usize,
}

/// What a field of a document is to its policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Field {
    /// The array of this rule.
    Array(usize),
    /// One that only the policy writes.
    Counter,
}

/// Bounds of the document as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentBounds {
    /// Passing it upwards is logged, once the write that does is committed.
    pub warn_bytes: Option<usize>,
    pub max_bytes: Option<usize>,
}

/// What may become of an array that the policy does not name.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Undeclared {
    #[default]
    Allow,
    /// It may hold so many elements.
    Max(usize),
    /// There may be none.
    Reject,
}

/// The bounds of the arrays at one path.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayRule {
    pub path: Path,
    pub bounds: Bounds,
    pub on_limit: OnLimit,
}

/// How much an array may hold; whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub max: Option<usize>,
    pub max_bytes: Option<usize>,
}

/// What happens to an array that would pass its bounds.
#[derive(Debug, Clone, PartialEq)]
pub enum OnLimit {
    Reject,
    DropOldest,
    DropNewest,
    Overflow(Arc<Overflow>),
}

/// Where the elements of an array go that its document does not keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Overflow {
    pub path: Path,
    /// The bounds of what the document keeps: the head.
    pub head: Bounds,
    /// The collection of the pages.
    pub into: Namespace,
    /// The view with one document an element, if the policy names one.
    pub view: Option<Namespace>,
    /// The field of a page that holds the `_id` of its document.
    pub parent_key: Box<str>,
    /// The most elements and bytes of a page.
    pub page: usize,
    pub page_bytes: usize,
    pub keep: Keep,
    pub read: Read,
    pub too_large: TooLarge,
    /// The bounds of the whole array, head and pages together,
    pub total: Bounds,
    /// and what happens there.
    pub on_total: OnTotal,
    /// Where the document counts all elements, if clients are to see that,
    pub count: Option<Path>,
    /// says that there are pages,
    pub flag: Option<Path>,
    /// and how many.
    pub pages: Option<Path>,
    /// Whether these are the policy's own in every document. Documents that are
    /// older than the policy may hold fields by the same names: until they have
    /// been looked through, counters are not taken at their word.
    pub counted: bool,
}

/// Which end of the sequence the document keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first elements stay; what is appended goes to the pages.
    Oldest,
    /// The last elements stay; those before them go to the pages.
    Newest,
}

/// What a read of the array shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    Head,
    Merged,
}

/// What is shown of a document that would pass 16 MB with its array whole, under `read: merged`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooLarge {
    /// Its head, so that one such document does not break a listing.
    Head,
    Error,
}

/// What happens to an array that would pass its bounds as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnTotal {
    Reject,
    /// Elements are dropped from its front.
    DropOldest,
}

impl Policy {
    /// One that says nothing.
    pub fn empty(namespace: &Namespace) -> Policy {
        Policy {
            namespace: namespace.clone(),
            document: DocumentBounds::default(),
            undeclared: Undeclared::default(),
            arrays: Vec::new(),
            leaving: false,
            digest: Digest::of(Undeclared::default(), &[]),
        }
    }

    /// Reads the policy of a collection.
    pub fn parse(namespace: &Namespace, policy: &RawDocument) -> Result<Policy> {
        namespace.check_write()?;
        let mut parsed = Policy::empty(namespace);
        key::read(&mut parsed, &Reader::new(policy))?;
        check::check(&parsed)?;
        overflow::bound_heads(&mut parsed);
        parsed.digest = Digest::of(parsed.undeclared, &parsed.arrays);
        Ok(parsed)
    }

    /// Whether a rule for this path could be added.
    pub fn could_declare(&self, path: &Path) -> bool {
        array::path_fault(path.as_str()).is_none()
            && !self.arrays.iter().any(|rule| rule.path.overlaps(path))
    }

    /// The same policy for another collection, whose pages go elsewhere too.
    pub fn moved(&self, namespace: &Namespace, into: impl Fn(usize) -> Namespace) -> Policy {
        let mut moved = Policy { namespace: namespace.clone(), ..self.clone() };
        for (at, rule) in moved.arrays.iter_mut().enumerate() {
            if let OnLimit::Overflow(overflow) = &mut rule.on_limit {
                *overflow = Arc::new(Overflow { into: into(at), ..Overflow::clone(overflow) });
            }
        }
        moved
    }

    /// The same policy, its counters to be trusted or not.
    pub fn with_counted(&self, counted: bool) -> Policy {
        let mut policy = self.clone();
        for rule in &mut policy.arrays {
            if let OnLimit::Overflow(overflow) = &mut rule.on_limit {
                *overflow = Arc::new(Overflow { counted, ..Overflow::clone(overflow) });
            }
        }
        policy
    }

    /// The same policy, with all its arrays read whole.
    pub fn with_arrays_whole(&self) -> Policy {
        let mut policy = self.clone();
        for rule in &mut policy.arrays {
            if let OnLimit::Overflow(overflow) = &mut rule.on_limit {
                let read = Read::Merged;
                *overflow = Arc::new(Overflow { read, ..Overflow::clone(overflow) });
            }
        }
        policy.digest = Digest::of(policy.undeclared, &policy.arrays);
        policy
    }

    /// The same policy, being left or not.
    pub fn with_leaving(&self, leaving: bool) -> Policy {
        Policy { leaving, ..self.clone() }
    }

    /// Whether the counters of every document can be trusted.
    pub fn is_counted(&self) -> bool {
        self.overflows().all(|overflow| overflow.counted)
    }

    /// Whether another policy says the same, be documents counted, or be it left, or not.
    pub fn says_same(&self, other: &Policy) -> bool {
        let said = |policy: &Policy| policy.with_counted(true).with_leaving(false);
        said(self) == said(other)
    }

    /// The arrays that overflow.
    pub fn overflows(&self) -> impl Iterator<Item = &Arc<Overflow>> {
        self.arrays.iter().filter_map(|rule| match &rule.on_limit {
            OnLimit::Overflow(overflow) => Some(overflow),
            _ => None,
        })
    }

    /// Whether reads show some arrays whole.
    pub fn merges(&self) -> bool {
        self.digest.merges
    }

    /// The arrays that a read shows whole.
    pub fn merged(&self) -> impl Iterator<Item = &Arc<Overflow>> {
        self.overflows().filter(|overflow| overflow.read == Read::Merged)
    }
}

impl Bounds {
    pub const NONE: Bounds = Bounds { max: None, max_bytes: None };

    /// Whether an array of this length and weight is within bounds.
    pub fn hold(&self, len: usize, bytes: usize) -> bool {
        self.max.is_none_or(|max| len <= max) && self.max_bytes.is_none_or(|max| bytes <= max)
    }

    /// Whether an array of this weight is within bounds whatever it holds; `None`
    /// if that is a matter of its length.
    pub fn hold_bytes(&self, bytes: usize) -> Option<bool> {
        if self.max_bytes.is_some_and(|max| bytes > max) {
            return Some(false);
        }
        match self.max {
            Some(max) if bytes >= least_bytes(max.saturating_add(1)) => None,
            _ => Some(true),
        }
    }
}

impl Digest {
    fn of(undeclared: Undeclared, rules: &[ArrayRule]) -> Digest {
        let lengths = |name: fn(&Path) -> &str| {
            let names = rules.iter().flat_map(ArrayRule::paths).map(name);
            names.fold(KeyLengths::default(), KeyLengths::with)
        };
        let is_merged = |rule: &ArrayRule| match &rule.on_limit {
            OnLimit::Overflow(overflow) => overflow.read == Read::Merged,
            _ => false,
        };
        let merges = rules.iter().any(is_merged);
        let overflows = rules.iter().any(ArrayRule::overflows);
        let is_flat = rules.iter().flat_map(ArrayRule::paths).all(|path| path.len() == 1);
        let undeclared_bytes = match undeclared {
            Undeclared::Allow => usize::MAX,
            Undeclared::Max(max) => least_bytes(max.saturating_add(1)),
            Undeclared::Reject => least_bytes(0),
        };
        let (paths, roots) = (lengths(Path::as_str), lengths(Path::first));
        let fields = match is_flat && rules.len() > LOOKED_AT_MAX {
            true => Arc::new(fields(rules)),
            false => Arc::default(),
        };
        Digest { paths, roots, is_flat, fields, overflows, merges, undeclared_bytes }
    }
}

fn fields(rules: &[ArrayRule]) -> FxHashMap<Box<[u8]>, Field> {
    let name = |path: &Path| path.as_str().as_bytes().into();
    let arrays = rules.iter().enumerate().map(|(at, rule)| (name(&rule.path), Field::Array(at)));
    let overflows = rules.iter().filter_map(ArrayRule::overflow);
    let counters = overflows.flat_map(Overflow::named).map(|path| (name(path), Field::Counter));
    arrays.chain(counters).collect()
}

impl ArrayRule {
    pub(crate) fn overflow(&self) -> Option<&Overflow> {
        match &self.on_limit {
            OnLimit::Overflow(overflow) => Some(overflow),
            _ => None,
        }
    }

    pub fn overflows(&self) -> bool {
        matches!(self.on_limit, OnLimit::Overflow(_))
    }

    /// Whether what documents say of their arrays' lengths is the policy's own word.
    pub fn is_counted(&self) -> bool {
        match &self.on_limit {
            OnLimit::Overflow(overflow) => overflow.counted,
            _ => true,
        }
    }

    /// The paths of what is looked at in a document: the array, and what counts it.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let counters = self.overflow().into_iter().flat_map(Overflow::named);
        counters.chain([&self.path])
    }
}

/// What an array of so many elements weighs at least: each takes its type and the zero behind
/// its key. Keys are the client's, and may be empty: nobody looks at them.
fn least_bytes(len: usize) -> usize {
    EMPTY_ARRAY_BYTES.saturating_add(len.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_an_array_bounds_its_length() {
        for len in [0, 1, 9, 10, 11, 100, 1234] {
            let mut nulls = value::DocumentWriter::new();
            (0..len).for_each(|_| nulls.append_null(""));
            assert_eq!(least_bytes(len), nulls.finish().as_bytes().len(), "{len}");
        }
        let bounds = |max, max_bytes| Bounds { max, max_bytes };
        assert_eq!(bounds(Some(1_000), None).hold_bytes(least_bytes(1_001)), None);
        assert_eq!(bounds(Some(1_000), None).hold_bytes(least_bytes(1_001) - 1), Some(true));
        assert_eq!(bounds(Some(1_000), Some(20)).hold_bytes(21), Some(false));
        assert_eq!(bounds(None, Some(20)).hold_bytes(20), Some(true));
        assert_eq!(bounds(Some(usize::MAX), None).hold_bytes(1 << 24), Some(true));
    }

    #[test]
    fn undeclared_arrays_are_told_by_their_weight() {
        let bytes = |undeclared: bson::RawBson| {
            let policy = bson::rawdoc! { "undeclared_arrays": undeclared };
            let namespace = Namespace::new("d", "c").unwrap();
            Policy::parse(&namespace, &policy).unwrap().digest.undeclared_bytes
        };
        assert_eq!(bytes("allow".into()), usize::MAX);
        assert_eq!(bytes("reject".into()), EMPTY_ARRAY_BYTES);
        assert_eq!(bytes(bson::rawdoc! { "max": 200 }.into()), least_bytes(201));
    }
}
