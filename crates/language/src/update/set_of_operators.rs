//! An update made of operators: `{$set: {…}, $inc: {…}}`.

use super::array_filter::ArrayFilter;
use super::operator::{Argument, Operator};
use super::sources::Sources;
use super::target::{self, Target};
use super::tree::{self, Node, Object, is_filtered};
use super::walk::{self, Facts};
use super::{operators, reach, stored};
use crate::query::Matched;
use crate::{Context, Needs, describe, interrupt};
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use value::check::DEPTH_MAX;
use value::{Path, elements};

#[derive(Debug, Default)]
pub struct Operators {
    root: Object,
    positional: bool,
    sources: Sources,
    /// The paths whose old values are looked at.
    needs: Vec<Path>,
}

impl Operators {
    pub fn parse(
        update: &RawDocument,
        filters: &[Arc<ArrayFilter>],
        context: &Context,
    ) -> Result<Operators> {
        let mut parsed = Operators::default();
        let mut filters = Filters::of(filters);
        for modifier in elements(update) {
            let Some(row) = operators::find(modifier.key) else {
                return Err(Code::FailedToParse.error(format!(
                    "Unknown modifier: {}. Expected a valid update modifier or pipeline-style \
                     update specified as an array",
                    modifier.key
                )));
            };
            if modifier.kind != ElementType::EmbeddedDocument {
                return Err(Code::FailedToParse.error(format!(
                    "Modifiers operate on fields but we found type {} instead. For example: \
                     {{$mod: {{<field>: ...}}}} not {{{}}}",
                    describe::type_name(modifier.kind),
                    describe::element(modifier)
                )));
            }
            for field in modifier.children() {
                interrupt::check()?;
                let path = checked_path(field.key)?;
                let operator = (row.parse)(&Argument { field, context })?;
                parsed.insert(path, operator.clone(), &mut filters)?;
                if let Some((target, operator)) = operator.companion() {
                    parsed.sources.add(&Path::new(field.key));
                    parsed.insert(checked_path(target)?, operator, &mut filters)?;
                }
            }
        }
        if let Some(unused) = filters.used.iter().position(|used| !used) {
            return Err(Code::FailedToParse.error(format!(
                "The array filter for identifier '{}' was not used in the update {}",
                filters.given[unused].identifier,
                describe::value(RawBsonRef::Document(update))
            )));
        }
        parsed.root.sort();
        Ok(parsed)
    }

    fn insert(
        &mut self,
        path: Path,
        operator: Arc<dyn Operator>,
        filters: &mut Filters<'_>,
    ) -> Result<()> {
        let named = filters.named(&path)?;
        tree::insert(&mut self.root, &path, &named, operator.clone())?;
        self.positional |= path.components().any(|component| component == "$");
        if !operator.insert_only() && (operator.reads() || path.len() > 1) {
            self.needs.push(plain_prefix(&path));
        }
        Ok(())
    }

    /// The operators of a tree that looks at one path.
    pub fn of(root: Object, path: Path) -> Operators {
        Operators { root, needs: vec![path], ..Operators::default() }
    }

    pub fn root(&self) -> &Object {
        &self.root
    }

    /// All but those at a path and below it.
    pub fn without(&self, path: &Path) -> Operators {
        let needs = self.needs.iter().filter(|needed| !path.is_prefix_of(needed));
        Operators {
            root: self.root.without(path, 0),
            positional: self.positional,
            sources: self.sources.clone(),
            needs: needs.cloned().collect(),
        }
    }

    pub fn is_positional(&self) -> bool {
        self.positional
    }

    pub fn touches(&self, path: &Path) -> bool {
        reach::touches(&self.root, path)
    }

    pub fn touches_only(&self, path: &Path) -> bool {
        reach::only(&self.root, path).is_some()
    }

    pub fn appended(&self, path: &Path) -> Option<usize> {
        match reach::only(&self.root, path)? {
            Node::Leaf(operator) => operator.appended(),
            _ => None,
        }
    }

    pub fn apply(&self, before: &RawDocument, matched: Matched) -> Result<Option<RawDocumentBuf>> {
        let sources = &self.sources.find(before);
        let matched = matched.element;
        walk::apply(&self.root, Facts { before, insert: false, matched, sources })
    }

    /// As `apply`, to the beginnings of a document that an upsert inserts.
    pub fn insert_into(&self, found: &RawDocument) -> Result<Option<RawDocumentBuf>> {
        let sources = &self.sources.find(found);
        walk::apply(&self.root, Facts { before: found, insert: true, matched: None, sources })
    }

    /// The paths that are written to.
    pub fn targets(&self) -> Arc<[Target]> {
        target::targets(&self.root)
    }

    pub fn needs(&self, needs: &mut Needs) {
        self.needs.iter().for_each(|path| needs.add(path));
    }

    /// As `needs`, without the operators at some paths and below them.
    pub fn needs_without(&self, paths: &[&Path], needs: &mut Needs) {
        let left = |needed: &&Path| !paths.iter().any(|path| path.is_prefix_of(needed));
        self.needs.iter().filter(left).for_each(|path| needs.add(path));
    }
}

/// A path that an operator may name.
fn checked_path(text: &str) -> Result<Path> {
    if text.is_empty() {
        return Err(Code::EmptyFieldName.error("An empty update path is not valid."));
    }
    let path = Path::new(text);
    if path.components().any(str::is_empty) {
        return Err(Code::EmptyFieldName.error(format!(
            "The update path '{text}' contains an empty field name, which is not allowed."
        )));
    }
    if path.len() > DEPTH_MAX {
        return Err(stored::too_deep());
    }
    if path.components().filter(|part| *part == "$").count() > 1 {
        return Err(Code::BadValue
            .error(format!("Too many positional (i.e. '$') elements found in path '{text}'")));
    }
    if path.first() == "$" {
        return Err(Code::BadValue.error(format!(
            "Cannot have positional (i.e. '$') element in the first position in path '{text}'"
        )));
    }
    Ok(path)
}

/// The array filters of an update, and which of them its paths name.
struct Filters<'f> {
    given: &'f [Arc<ArrayFilter>],
    places: FxHashMap<&'f str, usize>,
    used: Vec<bool>,
}

impl<'f> Filters<'f> {
    fn of(given: &'f [Arc<ArrayFilter>]) -> Filters<'f> {
        let places = given.iter().enumerate().map(|(at, filter)| (&*filter.identifier, at));
        Filters { given, places: places.collect(), used: vec![false; given.len()] }
    }

    /// Those that the path's `$[…]` components name, in order.
    fn named(&mut self, path: &Path) -> Result<Vec<Option<Arc<ArrayFilter>>>> {
        let mut named = Vec::new();
        for (at, component) in path.components().enumerate() {
            if !is_filtered(component) {
                continue;
            }
            if at == 0 {
                return Err(Code::BadValue.error(format!(
                    "Cannot have array filter identifier (i.e. '$[<id>]') element in the first \
                     position in path '{}'",
                    path.as_str()
                )));
            }
            let identifier = &component[2..component.len() - 1];
            if identifier.is_empty() {
                named.push(None);
                continue;
            }
            let Some(found) = self.places.get(identifier).copied() else {
                return Err(Code::BadValue.error(format!(
                    "No array filter found for identifier '{identifier}' in path '{}'",
                    path.as_str()
                )));
            };
            self.used[found] = true;
            named.push(Some(self.given[found].clone()));
        }
        Ok(named)
    }
}

/// The path up to its first `$` or `$[…]`, which stand for no name of their own.
fn plain_prefix(path: &Path) -> Path {
    let plain = |part: &&str| *part != "$" && !is_filtered(part);
    let len = path.components().take_while(plain).count();
    path.prefix(len).unwrap_or_else(|| path.clone())
}
