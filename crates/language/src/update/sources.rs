//! The values that `$rename` moves, found in one walk however many there are.

use bson::RawDocument;
use bson::spec::ElementType;
use rustc_hash::FxHashMap;
use value::element::Elements;
use value::{Element, Path, elements};

/// The old paths of all renames, as a tree over their components.
#[derive(Debug, Default, Clone)]
pub struct Sources {
    children: FxHashMap<Box<str>, Source>,
}

#[derive(Debug, Default, Clone)]
struct Source {
    /// The whole path, if one ends here.
    path: Option<Box<str>>,
    below: Sources,
}

/// Old paths, and the values found there.
pub type Found<'d> = FxHashMap<Box<str>, Element<'d>>;

impl Sources {
    pub fn add(&mut self, path: &Path) {
        let mut source = self.children.entry(path.first().into()).or_default();
        for component in path.components().skip(1) {
            source = source.below.children.entry(component.into()).or_default();
        }
        source.path = Some(path.as_str().into());
    }

    pub fn find<'d>(&self, document: &'d RawDocument) -> Found<'d> {
        let mut found = Found::default();
        if !self.children.is_empty() {
            self.find_fields(elements(document), &mut found);
        }
        found
    }

    fn find_fields<'d>(&self, fields: Elements<'d>, found: &mut Found<'d>) {
        for element in fields {
            if let Some(source) = self.children.get(element.key) {
                source.take(element, found);
            }
        }
    }
}

impl Source {
    fn take<'d>(&self, element: Element<'d>, found: &mut Found<'d>) {
        if let Some(path) = &self.path {
            // Of fields with the same name the first is the one that counts.
            found.entry(path.clone()).or_insert(element);
        }
        // A source inside an array is an error, which the leaf at its path reports.
        if element.kind == ElementType::EmbeddedDocument {
            self.below.find_fields(element.children(), found);
        }
    }
}
