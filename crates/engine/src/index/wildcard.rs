//! Wildcard indexes: every leaf of a document under its own path.
//!
//! An entry is `[path, value]`. Documents are gone into; the elements of an array
//! stand under the array's path; an array within an array is a value as a whole.

use crate::catalog::Index;
use bson::{RawArray, RawBsonRef, RawDocument};
use value::Path;

/// `wildcardProjection`: which paths a `$**` index covers.
#[derive(Debug, PartialEq, Eq)]
pub enum Covers<'a> {
    All,
    Only(Vec<&'a str>),
    Except(Vec<&'a str>),
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
        for element in value::elements(projection) {
            let list = if truthy(element.value()) { &mut only } else { &mut except };
            list.push(element.key);
        }
        // `_id` is left out unless it is asked for, and may be asked for or left
        // out beside a list of the other kind.
        match only.is_empty() || only == ["_id"] && !except.is_empty() {
            true => Covers::Except(except),
            false => Covers::Only(only),
        }
    }

    /// Whether a leaf at this path is indexed.
    pub fn contains(&self, path: &str) -> bool {
        match self {
            Covers::All => true,
            Covers::Only(paths) => paths.iter().any(|kept| under(path, kept)),
            Covers::Except(paths) => !paths.iter().any(|left_out| under(path, left_out)),
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
pub struct Reach<'a> {
    root: &'a str,
    covers: Covers<'a>,
}

impl<'a> Reach<'a> {
    /// `root` is what stands before `$**`.
    pub fn of(index: &'a Index, root: &'a Path) -> Reach<'a> {
        Reach { root: root.as_str(), covers: Covers::of(index) }
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
            && !matches!(&self.covers, Covers::Only(only) if only.contains(&"_id"))
    }
}

/// Calls `emit` with the path and value of every leaf of the document under `root`;
/// true if an array was met.
pub fn leaves<'a>(
    index: &Index,
    root: &Path,
    document: &'a RawDocument,
    emit: &mut dyn FnMut(&str, RawBsonRef<'a>),
) -> bool {
    let mut walk = Leaves { reach: Reach::of(index, root), emit, arrays: false };
    walk.document(document, &mut String::new());
    walk.arrays
}

struct Leaves<'w, 'a> {
    reach: Reach<'w>,
    emit: &'w mut dyn FnMut(&str, RawBsonRef<'a>),
    arrays: bool,
}

impl<'a> Leaves<'_, 'a> {
    fn document(&mut self, document: &'a RawDocument, path: &mut String) {
        for element in value::elements(document) {
            let before = path.len();
            if before > 0 {
                path.push('.');
            }
            path.push_str(element.key);
            if self.reach.leads_to_root(path) {
                self.value(element.value(), path);
            }
            path.truncate(before);
        }
    }

    fn value(&mut self, found: RawBsonRef<'a>, path: &mut String) {
        match found {
            RawBsonRef::Document(inner) if value::elements(inner).next().is_some() => {
                self.document(inner, path);
            }
            RawBsonRef::Array(array) => self.array(array, path),
            leaf => self.leaf(path, leaf),
        }
    }

    fn array(&mut self, array: &'a RawArray, path: &mut String) {
        self.arrays = true;
        let mut empty = true;
        for element in value::element::array_elements(array) {
            empty = false;
            match element.value() {
                RawBsonRef::Document(inner) if value::elements(inner).next().is_some() => {
                    self.document(inner, path);
                }
                leaf => self.leaf(path, leaf),
            }
        }
        if empty {
            self.leaf(path, RawBsonRef::Undefined);
        }
    }

    fn leaf(&mut self, path: &str, leaf: RawBsonRef<'a>) {
        if self.reach.contains(path) {
            (self.emit)(path, leaf);
        }
    }
}
