//! Parsing `find`'s and `$project`'s specifications.

use super::Projection;
use super::slice::Slice;
use super::tree::{Branch, Kind, Node};
use crate::aggregate::expressions::{Expression, FieldPath, table};
use crate::query::Filter;
use crate::{Context, describe, interrupt};
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};
use value::{DocumentWriter, Element, Number, Path, elements};

/// How deep sub-documents of a specification may nest.
const SPECIFICATION_DEPTH_MAX: usize = 200;

pub fn find(spec: &RawDocument, filter: Option<&Filter>, context: &Context) -> Result<Projection> {
    Parser::new(true, filter, context).parse(spec)
}

pub fn stage(spec: &RawDocument, context: &Context) -> Result<Projection> {
    if elements(spec).next().is_none() {
        return Err(
            Code::location(51272).error("projection specification must have at least one field")
        );
    }
    Parser::new(false, None, context).parse(spec)
}

struct Parser<'c> {
    context: &'c Context,
    /// Whether `$slice`, `$elemMatch` and positional `$` are allowed.
    find: bool,
    /// What positional `$` refers to.
    filter: Option<&'c Filter>,
    root: Branch,
    /// Known once something other than `_id` was included or excluded.
    kind: Option<Kind>,
    id_specified: bool,
    id_included: bool,
    id_excluded: bool,
    has_elem_match: bool,
    has_positional: bool,
    has_slice: bool,
    has_meta: bool,
}

impl<'c> Parser<'c> {
    fn new(find: bool, filter: Option<&'c Filter>, context: &'c Context) -> Parser<'c> {
        Parser {
            context,
            find,
            filter,
            root: Branch::default(),
            kind: None,
            id_specified: false,
            id_included: false,
            id_excluded: false,
            has_elem_match: false,
            has_positional: false,
            has_slice: false,
            has_meta: false,
        }
    }

    fn parse(mut self, spec: &RawDocument) -> Result<Projection> {
        for element in elements(spec) {
            self.id_specified |= element.key == "_id" || element.key.starts_with("_id.");
            self.element(element, None)?;
        }
        let kind = self.kind.unwrap_or_else(|| self.ambiguous_kind());
        if kind == Kind::Inclusion && !self.id_specified {
            self.root.insert(&Path::new("_id"), Node::Keep)?;
        }
        if kind == Kind::Exclusion && self.id_included {
            self.root.remove("_id");
        }
        Ok(Projection { kind, root: self.root })
    }

    /// The kind of a specification that names nothing but `_id`, metadata and find's own
    /// operators.
    fn ambiguous_kind(&self) -> Kind {
        let expressed = self.has_elem_match || (self.has_meta && !self.find);
        let included = self.id_included || (expressed && !self.has_slice);
        if included { Kind::Inclusion } else { Kind::Exclusion }
    }

    fn element(&mut self, element: Element<'_>, parent: Option<&Path>) -> Result<()> {
        interrupt::check()?;
        let positional = element.key.ends_with(".$");
        if positional && !self.find {
            return Err(Code::location(31324)
                .error("Cannot use positional projection in aggregation projection"));
        }
        if element.key.contains(".$.") {
            return Err(Code::location(31394).error(
                "As of 4.4, it's illegal to specify positional operator in the middle of a \
                 path.Positional projection may only be used at the end, for example: a.b.$. If \
                 the query previously used a form like a.b.$.d, remove the parts following the \
                 '$' and the results will be equivalent.",
            ));
        }
        let refused = |code, what: &str| {
            Code::location(code).error(format!("positional projection cannot be used with {what}"))
        };
        match element.value() {
            RawBsonRef::Document(_) if positional => {
                Err(refused(31271, "an expression or sub object"))
            }
            RawBsonRef::Document(document) => self.document(element, document, parent),
            value => match truth(value) {
                Some(true) if positional => self.positional(element.key, parent),
                Some(true) => self.include(element.key, parent),
                Some(false) if positional => Err(refused(31395, "exclusion")),
                Some(false) => self.exclude(element.key, parent),
                None if positional => Err(refused(31308, "a literal")),
                None => self.literal(element, parent),
            },
        }
    }

    fn include(&mut self, key: &str, parent: Option<&Path>) -> Result<()> {
        self.root.insert(&join(parent, key)?, Node::Keep)?;
        if parent.is_none() && key == "_id" {
            self.id_included = true;
            return Ok(());
        }
        self.become_inclusion(key)
    }

    fn become_inclusion(&mut self, key: &str) -> Result<()> {
        if self.kind == Some(Kind::Exclusion) {
            return Err(Code::location(31253)
                .error(format!("Cannot do inclusion on field {key} in exclusion projection")));
        }
        self.kind = Some(Kind::Inclusion);
        Ok(())
    }

    fn exclude(&mut self, key: &str, parent: Option<&Path>) -> Result<()> {
        self.root.insert(&join(parent, key)?, Node::Drop)?;
        if parent.is_none() && key == "_id" {
            self.id_excluded = true;
            return Ok(());
        }
        if self.kind == Some(Kind::Inclusion) {
            return Err(Code::location(31254)
                .error(format!("Cannot do exclusion on field {key} in inclusion projection")));
        }
        self.kind = Some(Kind::Exclusion);
        Ok(())
    }

    fn positional(&mut self, key: &str, parent: Option<&Path>) -> Result<()> {
        if self.has_positional {
            return Err(Code::location(31276)
                .error("Cannot specify more than one positional projection per query."));
        }
        if self.has_elem_match {
            return Err(
                Code::location(31256).error("Cannot specify positional operator and $elemMatch.")
            );
        }
        let Some(filter) = self.filter else {
            return Err(Code::location(51050)
                .error("Projections with a positional operator require a matcher"));
        };
        let name = key.strip_suffix(".$").unwrap_or(key);
        if name.is_empty() {
            return Err(
                Code::location(5392900).error(format!("Projection on field {key} is invalid"))
            );
        }
        if let Some(operator) = filter.special() {
            return Err(Code::QueryFeatureNotAllowed
                .error(format!("{operator} is not allowed in this context")));
        }
        self.root.insert(&join(parent, name)?, Node::Positional)?;
        self.has_positional = true;
        self.become_inclusion(key)
    }

    /// A value that is neither a number nor a boolean stands for itself.
    fn literal(&mut self, element: Element<'_>, parent: Option<&Path>) -> Result<()> {
        let expression = Expression::parse(element.value(), self.context)?;
        self.root.insert(&join(parent, element.key)?, Node::Compute(expression))?;
        if self.kind == Some(Kind::Exclusion) {
            return Err(Code::location(31310).error(format!(
                "Cannot use an expression {} in an exclusion projection",
                describe::element(element)
            )));
        }
        self.kind = Some(Kind::Inclusion);
        Ok(())
    }

    /// `{a: {$op: …}}` or a specification of its own for what is below.
    fn document(
        &mut self,
        element: Element<'_>,
        document: &RawDocument,
        parent: Option<&Path>,
    ) -> Result<()> {
        let mut fields = elements(document);
        let Some(first) = fields.next() else {
            return Err(Code::location(51270)
                .error(format!("Invalid empty sub-projection: {}", element.key)));
        };
        let path = join(parent, element.key)?;
        if path.len() > SPECIFICATION_DEPTH_MAX {
            return Err(Code::Overflow.error("FieldPath is too long"));
        }
        if first.key.starts_with('$') && fields.next().is_none() {
            if self.operator(&path, parent.is_none(), first, element)? {
                return Ok(());
            }
            if FieldPath::parse(first.key.strip_suffix(".$").unwrap_or(first.key)).is_err() {
                return Err(
                    Code::location(31325).error(format!("Unknown expression {}", first.key))
                );
            }
        }
        elements(document).try_for_each(|field| self.element(field, Some(&path)))
    }

    /// Parses `{$op: …}` at a path; false if there is no such operator.
    fn operator(
        &mut self,
        path: &Path,
        top_level: bool,
        operator: Element<'_>,
        whole: Element<'_>,
    ) -> Result<bool> {
        match operator.key {
            "$slice" if self.find => match Slice::parse(operator) {
                Ok(slice) => {
                    self.root.insert(path, Node::Slice(slice))?;
                    self.has_slice = true;
                }
                Err(error) => self.expression(path, whole).map_err(|generic| {
                    generic.context(&format!(
                        "Invalid $slice syntax. The given syntax {} did not match the find() \
                         syntax because :: {error} :: The given syntax did not match the \
                         expression $slice syntax.",
                        describe::value(whole.value())
                    ))
                })?,
            },
            "$elemMatch" if self.find => self.elem_match(path, top_level, operator, whole)?,
            "$elemMatch" => {
                return Err(
                    Code::InvalidPipelineOperator.error("Cannot use $elemMatch in this context")
                );
            }
            // Metadata may stand in an exclusion, too.
            "$meta" => {
                self.has_meta = true;
                let metadata = Expression::parse(whole.value(), self.context)?;
                self.root.insert(path, Node::Compute(metadata))?;
            }
            name if table::find(name).is_some() => self.expression(path, whole)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn expression(&mut self, path: &Path, whole: Element<'_>) -> Result<()> {
        if self.kind == Some(Kind::Exclusion) {
            return Err(Code::location(31252)
                .error("Cannot use expression other than $meta in exclusion projection"));
        }
        self.kind = Some(Kind::Inclusion);
        let expression = Expression::parse(whole.value(), self.context)?;
        self.root.insert(path, Node::Compute(expression))
    }

    fn elem_match(
        &mut self,
        path: &Path,
        top_level: bool,
        operator: Element<'_>,
        whole: Element<'_>,
    ) -> Result<()> {
        if !matches!(operator.value(), RawBsonRef::Document(_)) {
            return Err(Code::location(31274).error(format!(
                "elemMatch: Invalid argument, object required, but got {}",
                describe::type_name(operator.kind)
            )));
        }
        if self.has_positional {
            return Err(
                Code::location(31255).error("Cannot specify positional operator and $elemMatch.")
            );
        }
        if path.len() > 1 || !top_level {
            return Err(
                Code::location(31275).error("Cannot use $elemMatch projection on a nested field.")
            );
        }
        let mut filter = DocumentWriter::new();
        filter.copy_as(path.as_str(), whole);
        let filter = Filter::parse_plain(&filter.finish(), self.context)?;
        self.root.insert(path, Node::ElemMatch(filter))?;
        self.has_elem_match = true;
        Ok(())
    }
}

/// The full path of a key below another.
fn join(parent: Option<&Path>, key: &str) -> Result<Path> {
    let path = FieldPath::parse(key)?.path().clone();
    Ok(parent.map_or(path, |parent| parent.join(key)))
}

/// Whether a value includes (true) or excludes (false) a field, or does neither.
fn truth(value: RawBsonRef<'_>) -> Option<bool> {
    match value {
        RawBsonRef::Boolean(value) => Some(value),
        value => Number::from_value(value).map(|number| !number.is_zero()),
    }
}
