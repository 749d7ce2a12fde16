//! What an update changed, field by field, as change streams tell it.
//!
//! The difference is taken between the document before and after, so that it is
//! right whoever else had a hand in the write. The update says how far it is to
//! be taken apart: `{$set: {a: {b: 1}}}` sets `a` as a whole, `{$set: {"a.b": 1}}`
//! only `a.b`; a replacement is not taken apart at all.

use super::target::{Leading, Target};
use super::tree::compare_names;
use bson::spec::ElementType;
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use value::{ArrayWriter, DocumentWriter, Element, Path, elements};

/// What an entry in a log of updates weighs beyond the difference itself. A
/// pipeline whose difference weighs more than the document is told as a
/// replacement.
const ENTRY_BYTES: usize = 15;

/// What a section of a difference weighs beyond its fields.
const SECTION_BYTES: usize = 8;

/// How an update writes.
#[derive(Debug, Clone)]
pub enum Manner {
    Replacement,
    Pipeline,
    Operators(Arc<[Target]>),
}

/// A change, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// `{path: value}`.
    pub updated: RawDocumentBuf,
    /// `[path]`.
    pub removed: RawArrayBuf,
    /// `[{field, newSize}]`.
    pub truncated: RawArrayBuf,
    /// `{path: [component]}` of those paths that could be read in two ways.
    pub ambiguous: RawDocumentBuf,
}

/// What changed from `before` to `after`; `None` if that is told by showing the
/// whole document.
pub fn difference(
    before: &RawDocument,
    after: &RawDocument,
    manner: &Manner,
) -> Option<Difference> {
    difference_of_cut(before, after, manner, None)
}

/// The same of documents that both lack the beginning of an array: its path, and how many
/// elements that are.
pub fn difference_of_cut(
    before: &RawDocument,
    after: &RawDocument,
    manner: &Manner,
    cut: Option<(&Path, usize)>,
) -> Option<Difference> {
    let targets: Option<Vec<&Target>> = match manner {
        Manner::Replacement => return None,
        Manner::Pipeline => None,
        Manner::Operators(targets) => Some(targets.iter().collect()),
    };
    let mut comparison = Comparison { told: Vec::new(), path: Vec::new() };
    let bytes = comparison.document(before, after, targets.as_deref());
    if targets.is_none() && bytes + ENTRY_BYTES > after.as_bytes().len() {
        return None;
    }
    if let Some((path, elements)) = cut {
        comparison.shift(path, elements);
    }
    Some(comparison.finish())
}

/// One component of a concrete path.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part<'d> {
    Name(&'d str),
    Index(usize),
}

/// One thing that changed.
struct Told<'d> {
    path: Vec<Part<'d>>,
    change: Change<'d>,
}

enum Change<'d> {
    Updated(Element<'d>),
    Removed,
    Truncated(usize),
}

struct Comparison<'d> {
    told: Vec<Told<'d>>,
    path: Vec<Part<'d>>,
}

/// The fields of a document that changed, by how they did.
#[derive(Default)]
struct Sections<'d> {
    removed: Vec<&'d str>,
    updated: Vec<Element<'d>>,
    inserted: Vec<Element<'d>>,
    /// Documents and arrays, before and after, to be taken apart further.
    inner: Vec<(Element<'d>, Element<'d>)>,
}

impl<'d> Comparison<'d> {
    /// Compares documents and gives back what the difference weighs. `targets`
    /// are those below this place; `None` takes everything apart.
    fn document(
        &mut self,
        before: &'d RawDocument,
        after: &'d RawDocument,
        targets: Option<&[&Target]>,
    ) -> usize {
        let depth = self.path.len();
        let leading = targets.map(|targets| Leading::of(targets, depth));
        let mut sections = sections(before, after, |name| {
            let ends = |target: &&Target| target.ends_at(depth);
            leading.as_ref().is_some_and(|leading| leading.to(name).iter().any(ends))
        });
        if targets.is_some() {
            sections.sort();
        }
        let Sections { removed, updated, inserted, inner } = sections;
        let full = [!removed.is_empty(), !updated.is_empty(), !inserted.is_empty()];
        let mut bytes = 5 + full.iter().filter(|full| **full).count() * SECTION_BYTES;
        bytes += removed.iter().map(|name| name.len() + 3).sum::<usize>();
        for name in removed {
            self.tell(Part::Name(name), Change::Removed);
        }
        for element in updated.into_iter().chain(inserted) {
            bytes += element.key.len() + 2 + element.bytes.len();
            self.tell(Part::Name(element.key), Change::Updated(element));
        }
        for (old, new) in inner {
            bytes += new.key.len() + 3;
            let below = leading.as_ref().map(|leading| leading.to(new.key));
            bytes += self.value(Part::Name(new.key), old, new, below.as_deref());
        }
        bytes
    }

    /// Compares two documents or two arrays under one name.
    fn value(
        &mut self,
        part: Part<'d>,
        old: Element<'d>,
        new: Element<'d>,
        targets: Option<&[&Target]>,
    ) -> usize {
        let depth = self.path.len() + 1;
        let told = self.told.len();
        self.path.push(part);
        let appends =
            targets.is_some_and(|targets| targets.iter().any(|target| target.len() == depth));
        let bytes = match (old.as_document(), new.as_document()) {
            _ if new.kind == ElementType::Array => self.array(old, new, appends, targets),
            (Some(old), Some(new)) => Some(self.document(old, new, targets)),
            _ => None,
        };
        self.path.pop();
        // A pipeline's difference that outweighs the value is not worth its while.
        match bytes.filter(|bytes| targets.is_some() || *bytes <= new.bytes.len()) {
            Some(bytes) => bytes,
            None => {
                self.told.truncate(told);
                self.tell(part, Change::Updated(new));
                new.bytes.len()
            }
        }
    }

    /// Compares arrays by position; `None` if the new one is to be told whole.
    fn array(
        &mut self,
        old: Element<'d>,
        new: Element<'d>,
        appends: bool,
        targets: Option<&[&Target]>,
    ) -> Option<usize> {
        let depth = self.path.len();
        let leading = targets.map(|targets| Leading::of(targets, depth));
        let (mut olds, mut news) = (old.children(), new.children());
        let mut bytes = 9;
        let mut index = 0;
        loop {
            let (old, new) = (olds.next(), news.next());
            let part = Part::Index(index);
            match (old, new) {
                (None, None) => return Some(bytes),
                (Some(_), None) => {
                    self.told
                        .push(Told { path: self.path.clone(), change: Change::Truncated(index) });
                    return Some(bytes + 7);
                }
                (Some(old), Some(new)) if is_same(old, new) => {}
                (Some(_), Some(_)) if appends => return None,
                (Some(old), Some(new)) if is_inner(old, new) => {
                    let name = index.to_string();
                    let below = leading.as_ref().map(|leading| leading.to(&name));
                    let ends = below
                        .as_ref()
                        .is_some_and(|below| below.iter().any(|target| target.ends_at(depth)));
                    bytes += name.len() + 3;
                    if ends {
                        self.tell(part, Change::Updated(new));
                    } else {
                        bytes += self.value(part, old, new, below.as_deref());
                    }
                }
                // Elements that only fill the way to a later one are not told.
                (None, Some(new)) if !appends && is_filling(new, index, leading.as_ref()) => {}
                (_, Some(new)) => {
                    bytes += 4 + new.bytes.len();
                    self.tell(part, Change::Updated(new));
                }
            }
            index += 1;
        }
    }

    fn tell(&mut self, part: Part<'d>, change: Change<'d>) {
        let mut path = self.path.clone();
        path.push(part);
        self.told.push(Told { path, change });
    }

    /// Numbers the elements of an array that lacks its beginning as those of the whole.
    fn shift(&mut self, array: &Path, elements: usize) {
        for Told { path, .. } in &mut self.told {
            let mut parts = path.iter_mut();
            let is_of =
                |name: &str| matches!(parts.next(), Some(Part::Name(part)) if *part == name);
            if array.components().all(is_of)
                && let Some(Part::Index(index)) = path.get_mut(array.len())
            {
                *index += elements;
            }
        }
    }

    fn finish(self) -> Difference {
        let mut updated = DocumentWriter::new();
        let mut removed = ArrayWriter::new();
        let mut truncated = ArrayWriter::new();
        let mut ambiguous = DocumentWriter::new();
        for Told { path, change } in &self.told {
            let text = text(path);
            match change {
                Change::Updated(element) => updated.copy_as(&text, *element),
                Change::Removed => removed.push(RawBsonRef::String(&text)),
                Change::Truncated(size) => {
                    let mut array = DocumentWriter::new();
                    array.append_str("field", &text);
                    array.append_i32("newSize", *size as i32);
                    truncated.push(RawBsonRef::Document(&array.finish()));
                }
            }
            if path.iter().any(Part::is_ambiguous) {
                ambiguous.begin_array(&text);
                for part in path {
                    ambiguous.push(match part {
                        Part::Name(name) => RawBsonRef::String(name),
                        Part::Index(index) => RawBsonRef::Int32(*index as i32),
                    });
                }
                ambiguous.end();
            }
        }
        Difference {
            updated: updated.finish(),
            removed: removed.finish(),
            truncated: truncated.finish(),
            ambiguous: ambiguous.finish(),
        }
    }
}

impl Part<'_> {
    /// Whether a dotted path with it could be read in two ways.
    fn is_ambiguous(&self) -> bool {
        match self {
            Part::Index(_) => true,
            Part::Name(name) => {
                name.contains('.')
                    || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
            }
        }
    }
}

impl Sections<'_> {
    /// Operators take effect in the order of names.
    fn sort(&mut self) {
        self.removed.sort_by(|a, b| compare_names(a, b));
        self.updated.sort_by(|a, b| compare_names(a.key, b.key));
        self.inserted.sort_by(|a, b| compare_names(a.key, b.key));
        self.inner.sort_by(|(a, _), (b, _)| compare_names(a.key, b.key));
    }
}

/// Goes through both documents at once. A field that is no longer where it was
/// is one that was removed and came again at the end.
fn sections<'d>(
    before: &'d RawDocument,
    after: &'d RawDocument,
    whole: impl Fn(&str) -> bool,
) -> Sections<'d> {
    let mut sections = Sections::default();
    let (mut olds, mut news) = (elements(before), elements(after));
    let (mut old, mut new) = (olds.next(), news.next());
    while let (Some(a), Some(b)) = (old, new) {
        if a.key != b.key {
            sections.removed.push(a.key);
            old = olds.next();
            continue;
        }
        if !is_same(a, b) {
            match is_inner(a, b) && !whole(b.key) {
                true => sections.inner.push((a, b)),
                false => sections.updated.push(b),
            }
        }
        (old, new) = (olds.next(), news.next());
    }
    sections.removed.extend(old.into_iter().chain(olds).map(|old| old.key));
    sections.inserted.extend(new.into_iter().chain(news));
    if !sections.removed.is_empty() {
        let again: FxHashSet<&str> = sections.inserted.iter().map(|new| new.key).collect();
        sections.removed.retain(|removed| !again.contains(removed));
    }
    sections
}

/// Whether a new element is a null that an operator put before its own.
fn is_filling(new: Element<'_>, index: usize, leading: Option<&Leading<'_>>) -> bool {
    let Some(leading) = leading.filter(|_| new.kind == ElementType::Null) else { return false };
    leading.to(&index.to_string()).is_empty()
}

fn is_same(a: Element<'_>, b: Element<'_>) -> bool {
    a.kind == b.kind && a.bytes == b.bytes
}

fn is_inner(a: Element<'_>, b: Element<'_>) -> bool {
    a.kind == b.kind && matches!(a.kind, ElementType::EmbeddedDocument | ElementType::Array)
}

fn text(path: &[Part<'_>]) -> String {
    let mut text = String::new();
    for part in path {
        if !text.is_empty() {
            text.push('.');
        }
        match part {
            Part::Name(name) => text.push_str(name),
            Part::Index(index) => text.push_str(&index.to_string()),
        }
    }
    text
}
