//! Something that is not as its policy has it.

use super::append_id;
use crate::patterns::overflow::int;
use bson::RawBson;
use value::DocumentWriter;

#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    pub kind: DriftKind,
    /// The document it is about; none of them for an index or a view.
    pub id: Option<RawBson>,
    pub path: String,
    /// The page it is about.
    pub page: Option<i64>,
    pub found: Option<RawBson>,
    pub expected: Option<RawBson>,
}

/// What can be wrong, one row each in `KINDS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriftKind {
    Bytes,
    Count,
    EmptyPage,
    FirstPage,
    Flag,
    Index,
    Orphan,
    PageBounds,
    PageCount,
    PageOrder,
    PageShape,
    Pages,
    View,
}

/// What sets it right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The document's counters are made right.
    Counters,
    /// Its pages and then its counters are.
    Pages,
    /// The pages are deleted, as they ought to have been with their document.
    Delete,
    /// What is missing beside the data is made.
    Make,
    /// `migrateGrowth`.
    Migrate,
    /// No repair is safe: it takes a person.
    None,
}

/// What each kind is called, and what sets it right.
const KINDS: &[(DriftKind, &str, Remedy)] = &[
    (DriftKind::Bytes, "bytes", Remedy::Counters),
    (DriftKind::Count, "count", Remedy::Counters),
    (DriftKind::EmptyPage, "emptyPage", Remedy::Pages),
    (DriftKind::FirstPage, "firstPage", Remedy::Counters),
    (DriftKind::Flag, "flag", Remedy::Counters),
    (DriftKind::Index, "index", Remedy::Make),
    (DriftKind::Orphan, "orphan", Remedy::Delete),
    (DriftKind::PageBounds, "pageBounds", Remedy::Migrate),
    (DriftKind::PageCount, "pageCount", Remedy::Pages),
    (DriftKind::PageOrder, "pageOrder", Remedy::None),
    (DriftKind::PageShape, "pageShape", Remedy::None),
    (DriftKind::Pages, "pages", Remedy::Counters),
    (DriftKind::View, "view", Remedy::Make),
];

impl DriftKind {
    pub fn name(self) -> &'static str {
        self.row().map_or("", |(_, name, _)| *name)
    }

    pub fn remedy(self) -> Remedy {
        self.row().map_or(Remedy::None, |(_, _, remedy)| *remedy)
    }

    fn row(self) -> Option<&'static (DriftKind, &'static str, Remedy)> {
        KINDS.iter().find(|(kind, ..)| *kind == self)
    }
}

impl Drift {
    /// As replies show it.
    pub fn write(&self, out: &mut DocumentWriter) {
        out.append_str("kind", self.kind.name());
        if let Some(id) = &self.id {
            append_id(out, "_id", id.as_raw_bson_ref());
        }
        out.append_str("path", &self.path);
        if let Some(page) = self.page {
            let page = usize::try_from(page).map_or(RawBson::Int64(page), int);
            out.append("page", page.as_raw_bson_ref());
        }
        for (name, value) in [("found", &self.found), ("expected", &self.expected)] {
            if let Some(value) = value {
                append_id(out, name, value.as_raw_bson_ref());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_row() {
        assert!(KINDS.is_sorted_by(|a, b| a.1 < b.1));
        for kind in [DriftKind::Count, DriftKind::Orphan, DriftKind::PageShape, DriftKind::View] {
            assert!(!kind.name().is_empty());
        }
    }
}
