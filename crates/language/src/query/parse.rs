//! From a filter document to a tree.

use super::operators::{self, Argument};
use super::{Node, Predicate};
use crate::{Context, interrupt};
use bson::spec::ElementType;
use bson::{RawArray, RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use value::check::DEPTH_MAX;
use value::element::array_elements;
use value::{Element, Path, elements};

/// How deep operators may nest: as deep as a document that a client sends.
const TREE_DEPTH_MAX: usize = 200;

/// Where in a filter a document stands.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    pub context: &'a Context,
    depth: usize,
    /// Whether conditions here are about whole documents, not array elements.
    pub whole: bool,
    /// Whether `$expr` and `$jsonSchema` may be used.
    special: bool,
    /// Whether what a command must prepare may be used: `$text`, `$near`, `$where`.
    prepared: bool,
    /// Whether an expression of constants that fails is only told of where it is evaluated:
    /// what it stands in may never come to it.
    pub deferred: bool,
}

impl<'a> Scope<'a> {
    pub fn top(context: &'a Context) -> Scope<'a> {
        Scope { context, depth: 0, whole: true, special: true, prepared: true, deferred: false }
    }

    /// A collection's validator.
    pub fn validator(context: &'a Context) -> Scope<'a> {
        Scope { prepared: false, deferred: true, ..Scope::top(context) }
    }

    /// Inside an update or a projection.
    pub fn plain(context: &'a Context) -> Scope<'a> {
        Scope { special: false, prepared: false, ..Scope::top(context) }
    }

    /// Refuses what only the filter of a command may use.
    pub fn expect_special(self, code: Code, refused: &'static str) -> Result<()> {
        if self.special { Ok(()) } else { Err(code.error(refused)) }
    }

    /// Refuses what needs more than the document it is about.
    pub fn expect_prepared(self, code: Code, refused: &'static str) -> Result<()> {
        if self.prepared { Ok(()) } else { Err(code.error(refused)) }
    }

    /// One level further in.
    pub fn deeper(self) -> Result<Scope<'a>> {
        if self.depth >= TREE_DEPTH_MAX {
            let message = format!("exceeded maximum query tree depth of {TREE_DEPTH_MAX}");
            return Err(Code::BadValue.error(message));
        }
        Ok(Scope { depth: self.depth + 1, ..self })
    }

    /// Inside the elements of an array.
    pub fn inner(self) -> Result<Scope<'a>> {
        Ok(Scope { whole: false, ..self.deeper()? })
    }
}

pub fn document(filter: &RawDocument, scope: &Scope<'_>) -> Result<Node> {
    let scope = scope.deeper()?;
    let mut nodes = Vec::new();
    for element in elements(filter) {
        interrupt::check()?;
        nodes.push(match element.key {
            key if !key.starts_with('$') => field(element, &scope)?,
            // The parts of a reference are fields whatever they are compared with.
            "$db" | "$id" | "$ref" => {
                let operand = operators::comparison::operand(element.value())?;
                Node::Field(Path::new(element.key), Predicate::Eq(operand))
            }
            key => match operators::top_level(key) {
                Some(operator) => (operator.parse)(element, &scope)?,
                None => return Err(unknown_top_level(key)),
            },
        });
    }
    Ok(Node::and(nodes))
}

fn unknown_top_level(name: &str) -> Error {
    let hint = match name {
        "$not" => "If you are trying to negate an entire expression, use $nor.",
        _ => {
            "If you have a field name that starts with a '$' symbol, consider using $getField or \
             $setField."
        }
    };
    Code::BadValue.error(format!("unknown top level operator: {name}. {hint}"))
}

/// `path: value` or `path: {$op: …}`.
fn field(element: Element<'_>, scope: &Scope<'_>) -> Result<Node> {
    let path = Path::new(element.key);
    if path.len() > DEPTH_MAX {
        return Err(Code::location(5_729_100).error("FieldPath is too long"));
    }
    let predicate = match element.value() {
        RawBsonRef::Document(inner) if is_operators(inner) => {
            Predicate::And(predicates(inner, element.key, scope)?)
        }
        RawBsonRef::RegularExpression(regex) => {
            Predicate::Regex(operators::Regex::new(regex.pattern.as_str(), regex.options.as_str())?)
        }
        value => Predicate::Eq(operators::comparison::operand(value)?),
    };
    Ok(Node::field(&path, predicate))
}

/// The predicates of `{$a: …, $b: …}`.
pub fn predicates(
    conditions: &RawDocument,
    field: &str,
    scope: &Scope<'_>,
) -> Result<Vec<Predicate>> {
    let scope = scope.deeper()?;
    let mut predicates = Vec::new();
    for element in elements(conditions) {
        interrupt::check()?;
        let Some(operator) = operators::on_field(element.key) else {
            return Err(Code::BadValue.error(match element.key {
                "$where" => "$where cannot be applied to a field".into(),
                name => format!("unknown operator: {name}"),
            }));
        };
        let argument = Argument { element, field, siblings: conditions, scope: &scope };
        match (operator.parse)(&argument)? {
            Predicate::And(all) => predicates.extend(all),
            predicate => predicates.push(predicate),
        }
    }
    Ok(predicates)
}

/// What `$elemMatch` asks of each element: `{$gt: 5}` of the element itself,
/// `{b: 1}`, `{$ref: "x"}` or `{$or: […]}` of its fields.
pub fn element_condition(condition: &RawDocument, scope: &Scope<'_>) -> Result<Predicate> {
    let first = elements(condition).next();
    let of_fields = first.is_some_and(|first| operators::top_level(first.key).is_some());
    let is_reference = elements(condition).any(|part| matches!(part.key, "$db" | "$id" | "$ref"));
    if is_operators(condition) && !of_fields && !is_reference {
        Ok(Predicate::ElemMatchValue(predicates(condition, "", scope)?))
    } else {
        Ok(Predicate::ElemMatchObject(Box::new(document(condition, scope)?)))
    }
}

/// The documents of `$and`, `$or`, `$nor`.
pub fn list(element: Element<'_>, scope: &Scope<'_>) -> Result<Vec<Node>> {
    let name = element.key;
    let bad = |message: String| Err(Code::BadValue.error(message));
    let RawBsonRef::Array(entries) = element.value() else {
        return bad(format!("{name} must be an array"));
    };
    if array_elements(entries).next().is_none() {
        return bad("$and/$or/$nor must be a nonempty array".into());
    }
    let mut nodes = Vec::new();
    for entry in array_elements(entries).values() {
        interrupt::check()?;
        let RawBsonRef::Document(entry) = entry else {
            return bad("$or/$and/$nor entries need to be full objects".into());
        };
        nodes.push(document(entry, scope)?);
    }
    Ok(nodes)
}

/// The array that `$in`, `$nin` and `$all` need.
pub fn array<'a>(element: Element<'a>) -> Result<&'a RawArray> {
    match element.value() {
        RawBsonRef::Array(array) => Ok(array),
        _ => Err(Code::BadValue.error(format!("{} needs an array", element.key))),
    }
}

/// Whether a document holds operators: its first key begins with a dollar sign,
/// and it is not a reference (`$ref`, `$id`, `$db`).
pub fn is_operators(document: &RawDocument) -> bool {
    let Some(first) = elements(document).next() else { return false };
    first.key.starts_with('$')
        && !(matches!(first.key, "$ref" | "$id" | "$db") && is_reference(document))
}

fn is_reference(document: &RawDocument) -> bool {
    let has = |name| value::element::get(document, name).is_some();
    has("$ref") && has("$id")
}

/// Whether a value is a document of operators, which lists of values may not hold.
pub fn holds_operators(element: Element<'_>) -> bool {
    element.kind == ElementType::EmbeddedDocument && element.as_document().is_some_and(is_operators)
}
