//! `$jsonSchema`: what MongoDB's dialect of JSON Schema says of documents, and
//! why a document does not satisfy it.
//!
//! A schema is a list of rules, one for each keyword. A rule speaks about values
//! of certain types and accepts all others.

pub mod keywords;

#[cfg(test)]
mod tests;

use crate::Needs;
use bson::spec::ElementType;
use bson::{RawBson, RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use keywords::Given;
use value::{DocumentWriter, Element, Path, elements};

/// How deep schemas may nest.
const SCHEMA_DEPTH_MAX: usize = 100;

/// A parsed schema.
#[derive(Debug)]
pub struct Schema {
    source: RawDocumentBuf,
    title: Option<String>,
    description: Option<String>,
    statements: Vec<Statement>,
}

/// A keyword as it was given, and what it means.
#[derive(Debug)]
struct Statement {
    name: &'static str,
    given: RawBson,
    rule: Box<dyn Rule>,
}

/// What a keyword demands.
pub trait Rule: std::fmt::Debug + Send + Sync {
    fn accepts(&self, value: Element<'_>) -> Result<bool>;

    /// The fields whose values it looks at in a document; `None` is all of them.
    fn fields(&self) -> Option<Vec<&str>> {
        None
    }

    /// Whether an explanation repeats the keyword as it was given.
    fn is_repeated(&self) -> bool {
        true
    }

    /// Writes why a value is not accepted, in the shape of MongoDB's `errInfo`.
    fn explain(&self, value: Element<'_>, out: &mut DocumentWriter) -> Result<()>;
}

impl Schema {
    pub fn parse(schema: &RawDocument) -> Result<Schema> {
        Schema::parse_at(schema, 0)
    }

    fn parse_at(schema: &RawDocument, depth: usize) -> Result<Schema> {
        if depth > SCHEMA_DEPTH_MAX {
            let message = format!("$jsonSchema nests deeper than {SCHEMA_DEPTH_MAX} levels");
            return Err(Code::BadValue.error(message));
        }
        let mut parsed = Schema {
            source: schema.to_owned(),
            title: None,
            description: None,
            statements: Vec::new(),
        };
        for element in elements(schema) {
            let Some(keyword) = keywords::find(element.key) else {
                return Err(unknown(element.key));
            };
            match keyword.name {
                "title" => parsed.title = Some(text(element)?),
                "description" => parsed.description = Some(text(element)?),
                _ => {}
            }
            let given = Given { element, siblings: schema, depth };
            if let Some(rule) = (keyword.parse)(&given)? {
                let given = value::value::to_owned(element.value());
                parsed.statements.push(Statement { name: keyword.name, given, rule });
            }
        }
        Ok(parsed)
    }

    /// What it was parsed from.
    pub fn source(&self) -> &RawDocument {
        &self.source
    }

    pub fn accepts_document(&self, document: &RawDocument) -> Result<bool> {
        self.accepts(whole(document))
    }

    pub fn accepts(&self, value: Element<'_>) -> Result<bool> {
        for statement in &self.statements {
            if !statement.rule.accepts(value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What of a document it looks at.
    pub fn needs(&self, needs: &mut Needs) {
        for statement in &self.statements {
            match statement.rule.fields() {
                Some(names) => names.iter().for_each(|name| needs.add(&Path::new(name))),
                None => needs.all(),
            }
        }
    }

    /// Why a document is not accepted: what stands in `errInfo.details`.
    pub fn explain_document(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let mut out = DocumentWriter::new();
        out.append_str("operatorName", "$jsonSchema");
        self.label(&mut out);
        self.explain("schemaRulesNotSatisfied", whole(document), &mut out)?;
        Ok(out.finish())
    }

    /// Title and description, which go with every explanation.
    fn label(&self, out: &mut DocumentWriter) {
        if let Some(title) = &self.title {
            out.append_str("title", title);
        }
        if let Some(description) = &self.description {
            out.append_str("description", description);
        }
    }

    /// Writes an array of what is not satisfied.
    fn explain(&self, name: &str, value: Element<'_>, out: &mut DocumentWriter) -> Result<()> {
        out.begin_array(name);
        for statement in &self.statements {
            if statement.rule.accepts(value)? {
                continue;
            }
            out.begin_next_document();
            out.append_str("operatorName", statement.name);
            if statement.rule.is_repeated() {
                out.begin_document("specifiedAs");
                out.append(statement.name, statement.given.as_raw_bson_ref());
                out.end();
            }
            statement.rule.explain(value, out)?;
            out.end();
        }
        out.end();
        Ok(())
    }
}

/// A document as a value.
fn whole(document: &RawDocument) -> Element<'_> {
    Element { kind: ElementType::EmbeddedDocument, key: "", bytes: document.as_bytes() }
}

fn text(element: Element<'_>) -> Result<String> {
    match element.value() {
        bson::RawBsonRef::String(text) => Ok(text.into()),
        _ => Err(wrong_type(element.key, "must be of type string")),
    }
}

/// Keywords of the standard that MongoDB knows and does not take.
const UNSUPPORTED: &[&str] =
    &["$ref", "$schema", "default", "definitions", "encrypt", "encryptMetadata", "format", "id"];

fn unknown(name: &str) -> Error {
    Code::FailedToParse.error(if UNSUPPORTED.contains(&name) {
        format!("$jsonSchema keyword '{name}' is not currently supported")
    } else {
        format!("Unknown $jsonSchema keyword: {name}")
    })
}

/// Code 14, as MongoDB words it.
fn wrong_type(keyword: &str, must: &str) -> Error {
    Code::TypeMismatch.error(format!("$jsonSchema keyword '{keyword}' {must}"))
}

/// Code 9, as MongoDB words it.
fn malformed(keyword: &str, what: &str) -> Error {
    Code::FailedToParse.error(format!("$jsonSchema keyword '{keyword}' {what}"))
}
