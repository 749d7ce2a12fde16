//! Wildcard indexes: every leaf of a document under its own path.
//!
//! An entry is `[path, value]`. Documents are gone into; the elements of an array
//! stand under the array's path; an array within an array is a value as a whole.

use crate::catalog::{ARRAY_PATH_BYTES_MAX, ARRAY_PATHS_MAX, Index};
use bson::{RawArray, RawBsonRef, RawDocument};
use error::Result;
use language::interrupt;
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use value::Path;

/// `wildcardProjection`: which paths a `$**` index covers.
#[derive(Debug, PartialEq, Eq)]
pub enum Covers<'a> {
    All,
    Only(ProjectedPaths<'a>),
    Except(ProjectedPaths<'a>),
}

/// Beyond this many, paths are looked up in a table.
const LINEAR_PATHS_MAX: usize = 8;

/// The paths that a projection names.
#[derive(Debug, PartialEq, Eq)]
pub struct ProjectedPaths<'a> {
    list: Vec<Cow<'a, str>>,
    /// Empty while there are few.
    table: FxHashSet<Cow<'a, str>>,
}

impl<'a> ProjectedPaths<'a> {
    fn of(list: Vec<Cow<'a, str>>) -> ProjectedPaths<'a> {
        let many = list.len() > LINEAR_PATHS_MAX;
        let table = if many { list.iter().cloned().collect() } else { FxHashSet::default() };
        ProjectedPaths { list, table }
    }

    /// Whether a path is one of these or lies below one.
    fn reach(&self, path: &str) -> bool {
        if self.table.is_empty() {
            return self.list.iter().any(|root| under(path, root));
        }
        let mut above = path.match_indices('.').filter_map(|(at, _)| path.get(..at));
        self.table.contains(path) || above.any(|above| self.table.contains(above))
    }
}

impl<'a> Covers<'a> {
    /// Read from the index's definition, which was checked when it was created.
    pub fn of(index: &'a Index) -> Covers<'a> {
        let Some(element) = value::element::get(&index.spec, "wildcardProjection") else {
            return Covers::All;
        };
        let RawBsonRef::Document(projection) = element.value() else { return Covers::All };
        let mut only = Vec::new();
        let mut except = Vec::new();
        split(projection, "", &mut only, &mut except);
        // `_id` is left out unless it is asked for, and may be asked for or left
        // out beside a list of the other kind.
        match only.is_empty() || only == ["_id"] && !except.is_empty() {
            true => Covers::Except(ProjectedPaths::of(except)),
            false => Covers::Only(ProjectedPaths::of(only)),
        }
    }

    /// Whether a leaf at this path is indexed.
    pub fn contains(&self, path: &str) -> bool {
        match self {
            Covers::All => true,
            Covers::Only(paths) => paths.reach(path),
            Covers::Except(paths) => !paths.reach(path),
        }
    }
}

/// Sorts the paths of a projection, those of documents within it included, by whether it
/// takes them or leaves them out.
fn split<'a>(
    projection: &'a RawDocument,
    above: &str,
    only: &mut Vec<Cow<'a, str>>,
    except: &mut Vec<Cow<'a, str>>,
) {
    for element in value::elements(projection) {
        let path = match above {
            "" => Cow::Borrowed(element.key),
            above => Cow::Owned(format!("{above}.{}", element.key)),
        };
        match element.value() {
            RawBsonRef::Document(below) => split(below, &path, only, except),
            value if truthy(value) => only.push(path),
            _ => except.push(path),
        }
    }
}

fn truthy(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Boolean(flag) => flag,
        RawBsonRef::Int32(number) => number != 0,
        RawBsonRef::Int64(number) => number != 0,
        RawBsonRef::Double(number) => number != 0.0,
        _ => true,
    }
}

/// Whether `path` is `root` or lies below it.
pub fn under(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The paths a wildcard index has entries for.
#[derive(Debug)]
pub struct WildcardReach<'a> {
    root: &'a str,
    covers: Covers<'a>,
}

impl<'a> WildcardReach<'a> {
    /// `root` is what stands before `$**`.
    pub fn of(index: &'a Index, root: &'a Path) -> WildcardReach<'a> {
        WildcardReach { root: root.as_str(), covers: Covers::of(index) }
    }

    pub fn contains(&self, path: &str) -> bool {
        let inside = self.root.is_empty() || under(path, self.root);
        inside && !self.leaves_out_id(path) && self.covers.contains(path)
    }

    /// Whether the path is above, at or below what the index is rooted at.
    fn leads_to_root(&self, path: &str) -> bool {
        self.root.is_empty() || under(path, self.root) || under(self.root, path)
    }

    /// Unless a projection names it, `_id` is not part of a `$**` index.
    fn leaves_out_id(&self, path: &str) -> bool {
        self.root.is_empty()
            && under(path, "_id")
            && !matches!(&self.covers, Covers::Only(only) if only.list.iter().any(|path| path == "_id"))
    }
}

/// The paths at which a document has arrays.
#[derive(Debug, Default)]
pub struct ArrayPaths {
    pub paths: FxHashSet<Box<str>>,
    /// Some are not in the list: there are too many, or they are too long.
    pub too_many: bool,
}

impl ArrayPaths {
    fn add(&mut self, path: &str) {
        if self.too_many || self.paths.contains(path) {
            return;
        }
        if self.paths.len() == ARRAY_PATHS_MAX || path.len() > ARRAY_PATH_BYTES_MAX {
            *self = ArrayPaths { paths: FxHashSet::default(), too_many: true };
            return;
        }
        self.paths.insert(path.into());
    }
}

/// Calls `emit` with the path and value of every leaf of the document under `root`. Answers
/// with the arrays that were met.
pub fn leaves<'a>(
    index: &Index,
    root: &Path,
    document: &'a RawDocument,
    emit: &mut dyn FnMut(&str, RawBsonRef<'a>) -> Result<()>,
) -> Result<ArrayPaths> {
    let mut walk =
        Leaves { reach: WildcardReach::of(index, root), emit, arrays: ArrayPaths::default() };
    walk.document(document, &mut String::new())?;
    Ok(walk.arrays)
}

struct Leaves<'w, 'a> {
    reach: WildcardReach<'w>,
    emit: &'w mut dyn FnMut(&str, RawBsonRef<'a>) -> Result<()>,
    arrays: ArrayPaths,
}

impl<'a> Leaves<'_, 'a> {
    fn document(&mut self, document: &'a RawDocument, path: &mut String) -> Result<()> {
        for element in value::elements(document) {
            interrupt::check()?;
            let before = path.len();
            if before > 0 {
                path.push('.');
            }
            path.push_str(element.key);
            if self.reach.leads_to_root(path) {
                self.value(element.value(), path)?;
            }
            path.truncate(before);
        }
        Ok(())
    }

    fn value(&mut self, found: RawBsonRef<'a>, path: &mut String) -> Result<()> {
        match found {
            RawBsonRef::Document(inner) if value::elements(inner).next().is_some() => {
                self.document(inner, path)
            }
            RawBsonRef::Array(array) => self.array(array, path),
            leaf => self.leaf(path, leaf),
        }
    }

    fn array(&mut self, array: &'a RawArray, path: &mut String) -> Result<()> {
        self.arrays.add(path);
        let mut empty = true;
        for element in value::element::array_elements(array) {
            empty = false;
            match element.value() {
                RawBsonRef::Document(inner) if value::elements(inner).next().is_some() => {
                    self.document(inner, path)?;
                }
                leaf => self.leaf(path, leaf)?,
            }
        }
        match empty {
            true => self.leaf(path, RawBsonRef::Undefined),
            false => Ok(()),
        }
    }

    fn leaf(&mut self, path: &str, leaf: RawBsonRef<'a>) -> Result<()> {
        match self.reach.contains(path) {
            true => (self.emit)(path, leaf),
            false => Ok(()),
        }
    }
}
