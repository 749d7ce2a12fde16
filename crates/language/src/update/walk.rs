//! Applying an update tree to a document: one walk over the elements on its
//! paths, everything else passed over.

use super::edits::{Container, Edits};
use super::operator::{Absent, Operator};
use super::place::Place;
use super::sources::Found;
use super::tree::{Array, Node, Object};
use crate::{describe, interrupt};
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use value::check::DEPTH_MAX;
use value::element::Elements;
use value::{DocumentWriter, Element, elements};

/// How many nulls may be put between an array's end and a new element.
const PADDING_ELEMENTS_MAX: usize = 1_500_000;

/// What is known of one application of an update.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'d> {
    pub before: &'d RawDocument,
    /// Whether the result is inserted by an upsert.
    pub insert: bool,
    /// The array element that `$` stands for.
    pub matched: Option<usize>,
    /// What is to be renamed.
    pub sources: &'d Found<'d>,
}

#[derive(Debug)]
pub struct Run<'d> {
    pub facts: Facts<'d>,
    pub edits: Edits<'d>,
}

/// The document after the update, or `None` if nothing changes.
pub fn apply(root: &Object, facts: Facts<'_>) -> Result<Option<RawDocumentBuf>> {
    let mut run = Run { facts, edits: Edits::new(facts.before) };
    let container = run.edits.open(facts.before.as_bytes());
    run.fields(root, elements(facts.before), &container, None)?;
    run.edits.close(container)?;
    run.edits.finish()
}

impl<'d> Run<'d> {
    fn node(&mut self, node: &Node, element: Element<'d>, place: &Place<'_>) -> Result<()> {
        match node {
            Node::Leaf(operator) if !self.facts.applies(&**operator) => Ok(()),
            Node::Leaf(operator) => {
                check_depth(&**operator, place)?;
                operator.update(element, place, self)
            }
            Node::Object(object) => match element.kind {
                ElementType::EmbeddedDocument => {
                    let container = self.edits.open(element.bytes);
                    self.fields(object, element.children(), &container, Some(place))?;
                    self.edits.close(container)
                }
                ElementType::Array => {
                    let container = self.edits.open(element.bytes);
                    self.items(object, element, &container, place)?;
                    self.edits.close(container)
                }
                _ => self.facts.blocked_children(object, element, place),
            },
            Node::Array(array) => self.filtered(array, element, place),
        }
    }

    /// Updates the fields of a document.
    fn fields(
        &mut self,
        object: &Object,
        fields: Elements<'d>,
        container: &Container,
        parent: Option<&Place<'_>>,
    ) -> Result<()> {
        let object = object.at_match(self.facts.matched)?;
        let children = object.children();
        let mut missing = vec![true; children.len()];
        let mut left = children.len();
        for element in fields {
            if left == 0 {
                break;
            }
            interrupt::check()?;
            let Some(at) = object.find(element.key).filter(|at| missing[*at]) else { continue };
            missing[at] = false;
            left -= 1;
            let place = Place::field(parent, element.key);
            let edits = self.edits.count();
            self.node(&children[at].1, element, &place)?;
            if parent.is_none() && self.edits.count() != edits {
                self.facts.check_top_level(element.key, &children[at].1)?;
            }
        }
        for ((name, node), missing) in children.iter().zip(missing) {
            interrupt::check()?;
            if missing && self.facts.creates(node)? {
                let place = Place::field(parent, name);
                if parent.is_none() {
                    self.facts.check_dollar(name)?;
                }
                let facts = self.facts;
                self.edits.try_append(container, |out| facts.create(node, name, &place, out))?;
            }
        }
        Ok(())
    }

    /// Updates the elements of an array by number.
    fn items(
        &mut self,
        object: &Object,
        array: Element<'d>,
        container: &Container,
        place: &Place<'_>,
    ) -> Result<()> {
        let object = object.at_match(self.facts.matched)?;
        let mut wanted = Vec::with_capacity(object.children().len());
        for (name, node) in object.children() {
            match array_index(name) {
                Some(index) => wanted.push((index, name, node)),
                None => self.facts.blocked(node, name, array, place)?,
            }
        }
        wanted.sort_by_key(|(index, ..)| *index);
        if let Some(pair) = wanted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Code::ConflictingUpdateOperators.error(format!(
                "Update created a conflict at '{}.{}'",
                place.path(),
                pair[1].1
            )));
        }
        let mut wanted = wanted.into_iter().peekable();
        let mut len = 0;
        for element in array.children() {
            interrupt::check()?;
            let Some((index, name, node)) = wanted.peek() else { return Ok(()) };
            if *index == len {
                self.node(node, element, &Place::item(place, name))?;
                wanted.next();
            }
            len += 1;
        }
        for (index, _, node) in wanted {
            if self.facts.creates(node)? {
                self.append_item(node, len, index, container, place)?;
                len = index + 1;
            }
        }
        Ok(())
    }

    /// Creates the element `index` of an array with `len` elements.
    fn append_item(
        &mut self,
        node: &Node,
        len: usize,
        index: usize,
        container: &Container,
        place: &Place<'_>,
    ) -> Result<()> {
        if index - len > PADDING_ELEMENTS_MAX {
            return Err(Code::CannotBackfillArray
                .error(format!("can't backfill more than {PADDING_ELEMENTS_MAX} elements")));
        }
        let name = index.to_string();
        let facts = self.facts;
        self.edits.try_append(container, |out| {
            for padding in len..index {
                interrupt::check()?;
                out.append_null(&padding.to_string());
            }
            facts.create(node, &name, &Place::item(place, &name), out)
        })
    }

    /// Updates every element that an array filter picks.
    fn filtered(&mut self, array: &Array, element: Element<'d>, place: &Place<'_>) -> Result<()> {
        if element.kind != ElementType::Array {
            let element = describe::field(place.name(), element.value());
            return Err(Code::BadValue
                .error(format!("Cannot apply array updates to non-array element {element}")));
        }
        let container = self.edits.open(element.bytes);
        for (index, item) in element.children().enumerate() {
            interrupt::check()?;
            let mut picked: Option<std::borrow::Cow<'_, Node>> = None;
            for child in &array.children {
                interrupt::check()?;
                if let Some(filter) = &child.filter
                    && !filter.matches(item)?
                {
                    continue;
                }
                picked = Some(match picked {
                    None => std::borrow::Cow::Borrowed(&child.node),
                    Some(node) => {
                        let path = format!("{}.{index}", place.path());
                        let mut node = node.into_owned();
                        node.merge(&child.node, &path)?;
                        std::borrow::Cow::Owned(node)
                    }
                });
            }
            if let Some(mut node) = picked {
                if let std::borrow::Cow::Owned(merged) = &mut node {
                    merged.sort();
                }
                let name = index.to_string();
                self.node(&node, item, &Place::item(place, &name))?;
            }
        }
        self.edits.close(container)
    }
}

impl Facts<'_> {
    fn applies(&self, operator: &dyn Operator) -> bool {
        self.insert || !operator.insert_only()
    }

    /// Whether a node makes anything at a path that does not exist.
    fn creates(&self, node: &Node) -> Result<bool> {
        Ok(match node {
            Node::Leaf(operator) => {
                self.applies(&**operator) && operator.absent(self)? == Absent::Creates
            }
            Node::Object(object) => {
                for (_, child) in object.at_match(self.matched)?.children() {
                    if self.creates(child)? {
                        return Ok(true);
                    }
                }
                false
            }
            // It makes nothing, but `create` has an error to report.
            Node::Array(_) => true,
        })
    }

    /// Writes what a node makes at a path that does not exist.
    fn create(
        &self,
        node: &Node,
        key: &str,
        place: &Place<'_>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        match node {
            Node::Leaf(operator) => {
                check_depth(&**operator, place)?;
                operator.create(key, place, self, out)
            }
            Node::Object(object) => {
                out.begin_document(key);
                for (name, child) in object.at_match(self.matched)?.children() {
                    if self.creates(child)? {
                        self.create(child, name, &Place::field(Some(place), name), out)?;
                    }
                }
                out.end();
                Ok(())
            }
            Node::Array(_) => Err(must_exist(&place.path())),
        }
    }

    /// The path goes on below a value that holds no fields.
    fn blocked_children(
        &self,
        object: &Object,
        element: Element<'_>,
        place: &Place<'_>,
    ) -> Result<()> {
        for (name, node) in object.at_match(self.matched)?.children() {
            self.blocked(node, name, element, place)?;
        }
        Ok(())
    }

    /// The component `name` cannot be reached in `element`, which is at `place`.
    fn blocked(
        &self,
        node: &Node,
        name: &str,
        element: Element<'_>,
        place: &Place<'_>,
    ) -> Result<()> {
        match node {
            Node::Leaf(operator) if !self.applies(&**operator) => Ok(()),
            Node::Leaf(operator) => {
                let element = || describe::field(place.name(), element.value());
                match operator.absent(self)? {
                    Absent::Creates => Err(Code::PathNotViable.error(format!(
                        "Cannot create field '{name}' in element {{{}}}",
                        element()
                    ))),
                    Absent::Refuses => Err(Code::PathNotViable.error(format!(
                        "Cannot use the part ({name}) of ({}.{name}) to traverse the element \
                         ({{{}}})",
                        place.path(),
                        element()
                    ))),
                    Absent::Ignores => Ok(()),
                }
            }
            Node::Object(object) => {
                for (_, child) in object.at_match(self.matched)?.children() {
                    self.blocked(child, name, element, place)?;
                }
                Ok(())
            }
            Node::Array(_) => Err(must_exist(&format!("{}.{name}", place.path()))),
        }
    }

    /// A field of the document itself has changed.
    fn check_top_level(&self, name: &str, node: &Node) -> Result<()> {
        if name == "_id" {
            return Err(Code::ImmutableField.error(
                "Performing an update on the path '_id' would modify the immutable field '_id'",
            ));
        }
        match node {
            Node::Leaf(operator) if operator.absent(self)? == Absent::Creates => {
                self.check_dollar(name)
            }
            _ => Ok(()),
        }
    }

    /// No operator writes a field of the document itself whose name begins with
    /// `$`, unless the document is inserted.
    fn check_dollar(&self, name: &str) -> Result<()> {
        if !self.insert && name.starts_with('$') {
            return Err(super::stored::dollar_field(name));
        }
        Ok(())
    }
}

fn must_exist(path: &str) -> Error {
    Code::BadValue.error(format!(
        "The path '{path}' must exist in the document in order to apply array updates."
    ))
}

fn check_depth(operator: &dyn Operator, place: &Place<'_>) -> Result<()> {
    if place.level + operator.depth() > DEPTH_MAX {
        return Err(super::stored::too_deep());
    }
    Ok(())
}

/// The element of an array that a path component names.
fn array_index(name: &str) -> Option<usize> {
    let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| name.parse::<u32>().ok()).flatten().map(|index| index as usize)
}
