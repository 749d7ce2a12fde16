//! Applying a projection's tree to a document.

use super::tree::{Branch, Kind, Node};
use crate::interrupt;
use crate::query::Matched;
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::{DocumentWriter, Element, elements, wide};

/// How many children are tracked without an allocation.
const TRACKED_BITS: usize = 64;

struct Projector<'a> {
    kind: Kind,
    /// The whole document, which expressions see.
    document: &'a RawDocument,
    matched: Matched,
}

/// What the walk has passed on its way to a value.
#[derive(Debug, Clone, Copy, Default)]
struct Passed {
    /// An array of which the positional element was taken.
    positional: bool,
    /// An array inside an array: `$slice` does not reach there.
    nested_array: bool,
}

/// Where a value is written: under a key, or as an array's next element.
#[derive(Clone, Copy)]
enum Slot<'k> {
    Key(&'k str),
    Next,
}

pub fn apply(
    kind: Kind,
    root: &Branch,
    document: &RawDocument,
    matched: Matched,
) -> Result<RawDocumentBuf> {
    if kind != Kind::Inclusion && root.children().is_empty() {
        return Ok(document.to_owned());
    }
    let room = match kind {
        Kind::Inclusion => 64 * root.children().len().min(64),
        Kind::Exclusion | Kind::Addition => document.as_bytes().len(),
    };
    let mut out = DocumentWriter::with_capacity(room);
    let _entered = root.computed.then(|| wide::enter(document));
    let projector = Projector { kind, document, matched };
    projector.fields(root, Some(elements(document)), Passed::default(), &mut out)?;
    Ok(out.finish())
}

impl Projector<'_> {
    /// Projects the fields of a document; of none, only what is computed.
    fn fields<'e>(
        &self,
        branch: &Branch,
        fields: Option<impl Iterator<Item = Element<'e>>>,
        passed: Passed,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        let children = branch.children();
        let mut seen = Seen::new(children.len());
        let mut left = children.len();
        for element in fields.into_iter().flatten() {
            interrupt::check_sized(element.bytes.len())?;
            match branch.find(element.key) {
                None if self.kind == Kind::Inclusion => continue,
                None => out.copy(element),
                Some(at) => {
                    self.field(&children[at].1, element, passed, out)?;
                    left -= usize::from(seen.insert(at));
                    if left == 0 && self.kind == Kind::Inclusion {
                        break;
                    }
                }
            }
        }
        if branch.computed {
            for (at, (name, node)) in children.iter().enumerate() {
                interrupt::check()?;
                self.absent(name, node, seen.contains(at), passed, out)?;
            }
        }
        Ok(())
    }

    /// A field that the document has.
    fn field(
        &self,
        node: &Node,
        element: Element<'_>,
        passed: Passed,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        let is_array = element.kind == ElementType::Array;
        match node {
            Node::Branch(branch) => {
                return self.value(branch, element, Slot::Key(element.key), passed, out);
            }
            Node::Compute(_) if self.kind != Kind::Inclusion => {
                return self.compute(element.key, node, out);
            }
            Node::ElemMatch(_) if self.kind == Kind::Exclusion => {
                return self.compute(element.key, node, out);
            }
            Node::Compute(_) | Node::ElemMatch(_) | Node::Drop => {}
            Node::Positional if is_array && !passed.positional => {
                let item = self.matching_item(element)?;
                out.begin_array(element.key);
                out.copy_next(item);
                out.end();
            }
            Node::Slice(slice) if is_array && !passed.nested_array => {
                slice.write(element, element.key, out);
            }
            Node::Keep | Node::Positional | Node::Slice(_) => out.copy(element),
        }
        Ok(())
    }

    /// A field that the document does not have, or that comes at the end.
    fn absent(
        &self,
        name: &str,
        node: &Node,
        seen: bool,
        passed: Passed,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        match node {
            Node::Compute(_) | Node::ElemMatch(_) if self.kind == Kind::Inclusion => {
                self.compute(name, node, out)
            }
            Node::Compute(_) if !seen => self.compute(name, node, out),
            Node::Branch(branch) if !seen && branch.computed => {
                out.begin_document(name);
                self.fields(branch, None::<std::iter::Empty<Element<'_>>>, passed, out)?;
                out.end();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn compute(&self, name: &str, node: &Node, out: &mut DocumentWriter) -> Result<()> {
        match node {
            Node::Compute(expression) => {
                if let Some(value) = expression.evaluate(self.document)? {
                    out.append(name, value.get());
                }
            }
            Node::ElemMatch(filter) => {
                let found = filter.matches_at(self.document)?.and_then(|matched| matched.element);
                let array = elements(self.document).find_first(name);
                let item = array.zip(found).and_then(|(array, at)| array.children().nth(at));
                if let Some(item) = item {
                    out.begin_array(name);
                    out.copy_next(item);
                    out.end();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Projects a value that the tree goes on below.
    fn value(
        &self,
        branch: &Branch,
        element: Element<'_>,
        slot: Slot<'_>,
        passed: Passed,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        match element.kind {
            ElementType::EmbeddedDocument => {
                slot.begin_document(out);
                self.fields(branch, Some(element.children()), passed, out)?;
                out.end();
            }
            ElementType::Array if branch.positional && !passed.positional => {
                let item = self.matching_item(element)?;
                slot.begin_array(out);
                let passed = Passed { positional: true, ..passed };
                self.value(branch, item, Slot::Next, passed, out)?;
                out.end();
            }
            ElementType::Array => {
                slot.begin_array(out);
                for item in element.children() {
                    interrupt::check()?;
                    let nested_array = passed.nested_array || item.kind == ElementType::Array;
                    let passed = Passed { nested_array, ..passed };
                    self.value(branch, item, Slot::Next, passed, out)?;
                }
                out.end();
            }
            // What is computed takes the place of a value without fields.
            _ if branch.computed => {
                slot.begin_document(out);
                self.fields(branch, None::<std::iter::Empty<Element<'_>>>, passed, out)?;
                out.end();
            }
            _ if self.kind == Kind::Inclusion => {}
            _ => slot.copy(element, out),
        }
        Ok(())
    }

    /// The element that satisfied the query.
    fn matching_item<'e>(&self, array: Element<'e>) -> Result<Element<'e>> {
        let Some(at) = self.matched.element else {
            return Err(Code::location(51246).error(
                "Executor error during find command :: caused by :: positional operator '.$' \
                 couldn't find a matching element in the array",
            ));
        };
        array.children().nth(at).ok_or_else(|| {
            Code::location(51247).error(
                "Executor error during find command :: caused by :: positional operator '.$' \
                 element mismatch",
            )
        })
    }
}

impl Slot<'_> {
    fn begin_document(self, out: &mut DocumentWriter) {
        match self {
            Slot::Key(key) => out.begin_document(key),
            Slot::Next => out.begin_next_document(),
        }
    }

    fn begin_array(self, out: &mut DocumentWriter) {
        match self {
            Slot::Key(key) => out.begin_array(key),
            Slot::Next => out.begin_next_array(),
        }
    }

    fn copy(self, element: Element<'_>, out: &mut DocumentWriter) {
        match self {
            Slot::Key(key) => out.copy_as(key, element),
            Slot::Next => out.copy_next(element),
        }
    }
}

/// Which children the document has.
struct Seen {
    bits: u64,
    more: Vec<bool>,
}

impl Seen {
    fn new(len: usize) -> Seen {
        Seen { bits: 0, more: vec![false; len.saturating_sub(TRACKED_BITS)] }
    }

    fn contains(&self, at: usize) -> bool {
        match at.checked_sub(TRACKED_BITS) {
            None => self.bits >> at & 1 == 1,
            Some(at) => self.more[at],
        }
    }

    /// Whether it was not there before.
    fn insert(&mut self, at: usize) -> bool {
        let new = !self.contains(at);
        match at.checked_sub(TRACKED_BITS) {
            None => self.bits |= 1 << at,
            Some(at) => self.more[at] = true,
        }
        new
    }
}
