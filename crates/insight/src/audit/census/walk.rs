//! The one walk over a document.

use super::array::{ArrayCensus, Longest, Span, bit};
use super::dates::Dates;
use super::shard_key::hash;
use super::tree::{NESTED, NodeId, Tree};
use super::{BROKEN_IDS_MAX, Census, Large, heaviest};
use crate::report::shown;
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use value::element::get;
use value::{Element, Elements, elements};

/// Nesting that is looked into; MongoDB stores 180 levels.
const DEPTH_MAX: usize = 200;
/// Dates are followed at paths of so many components at most.
const DATES_DEPTH_MAX: u32 = 2;
/// Longer values name nothing.
const NAME_BYTES_MAX: usize = 64;
/// A document's own length and its closing zero.
const FRAME_BYTES: usize = 5;
/// An element's type and the zero behind its key.
const ELEMENT_FRAME_BYTES: usize = 2;

pub fn document(census: &mut Census, document: &RawDocument, outlier: bool) {
    let bytes = document.as_bytes().len() as u64;
    match outlier {
        true => census.sizes.extreme(bytes),
        false => census.sizes.record(bytes),
    }
    let id = get(document, "_id");
    let created = id.and_then(created);
    if let Some(created) = created.filter(|_| !outlier) {
        census.created.add(created);
    }
    census.largest.offer(bytes, || Large {
        id: id_of(id),
        fields: heaviest(elements(document).map(|it| (it.key.to_owned(), it.bytes.len() as u64))),
    });
    let number = census.sizes.count();
    if let Some(key) = census.shard_key.as_mut().filter(|_| !outlier) {
        key.add(document, id, number);
    }
    let mut walk = Walk {
        tree: &mut census.tree,
        now: census.created.now(),
        id,
        created,
        bytes,
        number,
        outlier,
        broken: false,
    };
    walk.fields(Tree::ROOT, elements(document), bytes as usize, None, 1);
    if walk.broken {
        census.broken += 1;
        if census.broken_ids.len() < BROKEN_IDS_MAX {
            census.broken_ids.push(id_of(id));
        }
    }
}

struct Walk<'a> {
    tree: &'a mut Tree,
    now: i64,
    /// Of the document: its `_id`, when it was made, its bytes, which one it is.
    id: Option<Element<'a>>,
    created: Option<i64>,
    bytes: u64,
    number: u64,
    /// Whether it was looked for, and is no part of the sample.
    outlier: bool,
    broken: bool,
}

impl<'a> Walk<'a> {
    /// The fields of a document; `span` gathers the dates among them.
    fn fields(
        &mut self,
        parent: NodeId,
        fields: Elements<'a>,
        bytes: usize,
        mut span: Option<&mut Span>,
        depth: usize,
    ) {
        let mut guess = 0;
        let mut walked = FRAME_BYTES;
        for field in fields {
            walked += ELEMENT_FRAME_BYTES + field.key.len() + field.bytes.len();
            if let Some(span) = &mut span {
                note_date(span, field);
            }
            if let Some(node) = self.tree.child(parent, field.key, &mut guess) {
                self.value(node, field, depth);
            }
        }
        // A walk ends early where a key is no UTF-8 or the bytes make no sense.
        self.broken |= walked != bytes;
    }

    fn value(&mut self, id: NodeId, element: Element<'a>, depth: usize) {
        let node = self.tree.node_mut(id);
        node.count += 1;
        node.bytes += element.bytes.len() as u64;
        node.kinds |= bit(element.kind);
        if let Some(family) = node.family {
            self.tree.family_mut(family).seen(self.number);
        }
        match element.kind {
            ElementType::EmbeddedDocument if depth < DEPTH_MAX => {
                self.fields(id, element.children(), element.bytes.len(), None, depth + 1);
            }
            ElementType::Array if depth < DEPTH_MAX => self.array(id, element, depth),
            ElementType::String => self.text(id, element),
            ElementType::DateTime => self.date(id, element),
            ElementType::ObjectId | ElementType::Binary => self.name(id, element),
            // Other numbers are figures.
            ElementType::Int32 | ElementType::Int64 if self.tree.node(id).identifies => {
                self.name(id, element);
            }
            _ => {}
        }
    }

    fn array(&mut self, id: NodeId, element: Element<'a>, depth: usize) {
        // Before its elements: what is under it lies in an array.
        self.tree.node_mut(id).array.get_or_insert_with(|| Box::new(ArrayCensus::new()));
        let mut length = 0;
        let mut kinds = 0;
        let mut span = Span::NONE;
        // How often a date is later, or earlier, than all before it.
        let (mut later, mut earlier) = (0_u64, 0_u64);
        for item in element.children().items() {
            let before = span;
            length += 1;
            kinds |= bit(item.kind);
            match item.kind {
                ElementType::EmbeddedDocument if depth < DEPTH_MAX => {
                    let fields = item.children();
                    self.fields(id, fields, item.bytes.len(), Some(&mut span), depth + 1);
                }
                ElementType::Array if depth < DEPTH_MAX => {
                    if let Some(nested) = self.tree.child(id, NESTED, &mut 0) {
                        self.value(nested, item, depth + 1);
                    }
                }
                ElementType::String => self.check_text(item),
                _ => note_date(&mut span, item),
            }
            later += u64::from(span.to > before.to);
            earlier += u64::from(span.from < before.from);
        }
        let bytes = element.bytes.len() as u64;
        let (document, created, document_bytes) = (self.id, self.created, self.bytes);
        let outlier = self.outlier;
        if let Some(array) = &mut self.tree.node_mut(id).array {
            array.add(length, bytes, kinds, outlier, || Longest {
                id: id_of(document),
                bytes,
                document_bytes,
                span,
                newest_first: earlier > later,
                created,
            });
        }
    }

    fn text(&mut self, id: NodeId, element: Element<'a>) {
        self.check_text(element);
        self.name(id, element);
        if let Some(spellings) = &mut self.tree.node_mut(id).spellings
            && let RawBsonRef::String(text) = element.value()
        {
            spellings.add(text);
        }
    }

    /// A value that may name what the document is about.
    fn name(&mut self, id: NodeId, element: Element<'a>) {
        if element.bytes.len() <= NAME_BYTES_MAX
            && let Some(distinct) = self.tree.distinct(id)
        {
            distinct.add(hash(element));
        }
    }

    fn check_text(&mut self, element: Element<'a>) {
        let text = element.bytes.get(4..).unwrap_or_default();
        self.broken |= std::str::from_utf8(text).is_err();
    }

    fn date(&mut self, id: NodeId, element: Element<'a>) {
        let now = self.now;
        let node = self.tree.node_mut(id);
        if node.depth > DATES_DEPTH_MAX || node.in_array {
            return;
        }
        if let RawBsonRef::DateTime(date) = element.value() {
            let dates = node.dates.get_or_insert_with(|| Box::new(Dates::new(now)));
            dates.add(date.timestamp_millis());
        }
    }
}

/// A date, or an ObjectId that is an `_id`, tells when an element was made.
#[inline]
fn note_date(span: &mut Span, element: Element<'_>) {
    match element.kind {
        ElementType::DateTime => {
            if let RawBsonRef::DateTime(date) = element.value() {
                span.add(date.timestamp_millis());
            }
        }
        ElementType::ObjectId if element.key == "_id" => {
            if let Some(created) = created(element) {
                span.add(created);
            }
        }
        _ => {}
    }
}

/// When an ObjectId was made.
fn created(id: Element<'_>) -> Option<i64> {
    match id.value() {
        RawBsonRef::ObjectId(id) => Some(id.timestamp().timestamp_millis()),
        _ => None,
    }
}

fn id_of(id: Option<Element<'_>>) -> serde_json::Value {
    id.map_or(serde_json::Value::Null, |id| shown(id.value()))
}
