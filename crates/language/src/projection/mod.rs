//! Projections of `find` and `$project`, and the tree that `$addFields` and
//! `$unset` share with them.
//!
//! A specification becomes a tree over its paths (`tree`, filled by `parse`),
//! which is merged with the document in one walk (`apply`): what it does not
//! name is copied as bytes, or passed over without being looked into.

mod add_fields;
mod apply;
mod parse;
mod slice;
mod tree;
mod unset;

#[cfg(test)]
mod tests;

use crate::aggregate::expressions::Expression;
use crate::query::{Filter, Matched};
use crate::{Context, Needs};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;
pub use slice::Slice;
use tree::{Branch, Kind, Node};
use value::Path;

/// A parsed projection.
#[derive(Debug)]
pub struct Projection {
    kind: Kind,
    root: Branch,
}

impl Projection {
    /// `find`'s projection: with `$slice`, `$elemMatch`, positional `$`. `filter`
    /// is what the positional operator refers to.
    pub fn parse(
        spec: &RawDocument,
        filter: Option<&Filter>,
        context: &Context,
    ) -> Result<Projection> {
        parse::find(spec, filter, context)
    }

    /// `$project`'s: the same without find's own operators.
    pub fn parse_stage(spec: &RawDocument, context: &Context) -> Result<Projection> {
        parse::stage(spec, context).map_err(|error| error.context("Invalid $project"))
    }

    /// `$addFields`' and `$set`'s; `stage` is the name used, for messages.
    pub fn parse_add_fields(
        spec: RawBsonRef<'_>,
        stage: &str,
        context: &Context,
    ) -> Result<Projection> {
        add_fields::parse(spec, stage, context)
    }

    /// Gives one path the value of an expression.
    pub fn add_field(path: &Path, expression: Expression) -> Projection {
        let mut root = Branch::default();
        // The first path of a tree collides with none.
        let _ = root.insert(path, Node::Compute(expression));
        Projection { kind: Kind::Addition, root }
    }

    /// Gives paths that do not overlap the values of expressions.
    pub fn add_fields<'a>(
        fields: impl IntoIterator<Item = (&'a Path, Expression)>,
    ) -> Result<Projection> {
        let mut root = Branch::default();
        for (path, expression) in fields {
            root.insert(path, Node::Compute(expression))?;
        }
        Ok(Projection { kind: Kind::Addition, root })
    }

    /// `$unset`'s: a path or an array of paths.
    pub fn parse_unset(spec: RawBsonRef<'_>) -> Result<Projection> {
        unset::parse(spec)
    }

    /// The paths that the specification names.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.root.paths(None, &mut paths);
        paths
    }

    /// Whether `apply` needs to know which array element matched, for `$`.
    pub fn needs_match(&self) -> bool {
        self.root.positional
    }

    /// Whether the value at a path comes out as it went in. Below a field that is
    /// only partly included it may not: arrays lose what is no document.
    pub fn leaves(&self, path: &Path) -> bool {
        match self.kind {
            Kind::Inclusion => {
                let at = self.root.find(path.component(0));
                at.is_some_and(|at| matches!(self.root.children()[at].1, Node::Keep))
            }
            Kind::Exclusion | Kind::Addition => !self.root.contains(path),
        }
    }

    /// Where the value at a path of the result stood, if it was a field of the document itself
    /// and has only been given another name.
    pub fn source_of(&self, path: &Path) -> Option<Path> {
        let (_, node) = self.root.children().get(self.root.find(path.first())?)?;
        let Node::Compute(expression) = node else { return None };
        let source = expression.path().filter(|source| source.len() == 1)?;
        let rest = path.components().skip(1);
        Some(rest.fold(source.clone(), |source, name| source.join(name)))
    }

    pub fn apply(&self, document: &RawDocument, matched: Matched) -> Result<RawDocumentBuf> {
        apply::apply(self.kind, &self.root, document, matched)
    }

    /// What the result is made of.
    pub fn needs(&self, needs: &mut Needs) {
        match self.kind {
            Kind::Inclusion => {}
            Kind::Exclusion | Kind::Addition => {
                let mut replaced = Vec::new();
                self.root.replaced(None, &mut replaced);
                needs.all_except(replaced);
            }
        }
        self.root.reads(None, self.kind == Kind::Inclusion, needs);
    }

    /// What must be seen to make the result, where values that only pass through
    /// may be stand-ins for what is not loaded.
    pub fn reads(&self, needs: &mut Needs) {
        self.root.reads(None, false, needs);
    }

    /// What expressions look at.
    pub fn computes_from(&self, needs: &mut Needs) {
        self.root.computes_from(needs);
    }

    /// Whether it names something below a path: of an array, parts of its elements.
    pub fn goes_below(&self, path: &Path) -> bool {
        self.root.goes_below(path)
    }
}
