//! `$jsonSchema`: what MongoDB's dialect of JSON Schema says of documents, and
//! why a document does not satisfy it.
//!
//! A schema is a list of rules, one for each keyword. A rule speaks about values
//! of certain types and accepts all others.

pub mod keywords;

#[cfg(test)]
mod tests;

use crate::report::Report;
use crate::{Needs, interrupt};
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use keywords::Given;
use value::element::get;
use value::{DocumentWriter, Element, elements};

/// How deep schemas may nest.
const SCHEMA_DEPTH_MAX: usize = 100;

/// A parsed schema.
#[derive(Debug)]
pub struct Schema {
    source: RawDocumentBuf,
    title: Option<String>,
    description: Option<String>,
    statements: Vec<Statement>,
    /// Whether it describes whole documents, not what stands in them.
    whole: bool,
}

/// A keyword as it was given, and what it means.
#[derive(Debug)]
struct Statement {
    name: &'static str,
    given: RawDocumentBuf,
    rule: Box<dyn Rule>,
}

/// What a keyword demands.
pub trait Rule: std::fmt::Debug + Send + Sync {
    fn accepts(&self, value: Element<'_>) -> Result<bool>;

    /// Adds what it must see the values of, in a document.
    fn needs(&self, needs: &mut Needs) {
        needs.all();
    }

    /// Adds what decides whether it accepts a document: also what need only be there.
    fn depends_on(&self, needs: &mut Needs) {
        self.needs(needs);
    }

    /// Whether an explanation repeats the keyword as it was given.
    fn is_repeated(&self) -> bool {
        true
    }

    /// Another keyword that goes with this one, where it is repeated.
    fn modifier(&self) -> Option<&'static str> {
        None
    }

    /// Writes why a value is not accepted, in the shape of MongoDB's `errInfo`.
    /// What cannot be evaluated is not accepted.
    fn explain(&self, value: Element<'_>, report: &mut Report);
}

impl Schema {
    pub fn parse(schema: &RawDocument) -> Result<Schema> {
        Schema::parse_at(schema, 0, true)
    }

    fn parse_at(schema: &RawDocument, depth: usize, whole: bool) -> Result<Schema> {
        if depth > SCHEMA_DEPTH_MAX {
            let message = format!("$jsonSchema nests deeper than {SCHEMA_DEPTH_MAX} levels");
            return Err(Code::BadValue.error(message));
        }
        interrupt::check_sized(schema.as_bytes().len())?;
        check_keywords(schema)?;
        let mut parsed = Schema {
            source: schema.to_owned(),
            title: get(schema, "title").map(text).transpose()?,
            description: get(schema, "description").map(text).transpose()?,
            statements: Vec::new(),
            whole,
        };
        for keyword in keywords::as_read() {
            let Some(element) = get(schema, keyword.name) else { continue };
            let given = Given { element, siblings: schema, depth, whole };
            if let Some(rule) = (keyword.parse)(&given)? {
                let given = repeated(element, rule.modifier());
                parsed.statements.push(Statement { name: keyword.name, given, rule });
            }
        }
        parsed.statements.sort_by_key(|statement| keywords::place(statement.name));
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
            interrupt::check()?;
            if !statement.rule.accepts(value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// As `accepts`, where what cannot be evaluated is not accepted.
    fn surely_accepts(&self, value: Element<'_>) -> bool {
        self.accepts(value).unwrap_or(false)
    }

    /// What of a document it must see the values of.
    pub fn needs(&self, needs: &mut Needs) {
        self.statements.iter().for_each(|statement| statement.rule.needs(needs));
    }

    /// What decides whether it accepts a document: also what need only be there.
    pub fn depends_on(&self, needs: &mut Needs) {
        self.statements.iter().for_each(|statement| statement.rule.depends_on(needs));
    }

    /// Writes why a document is not accepted.
    pub fn explain_document(&self, document: &RawDocument, report: &mut Report) {
        if self.is_of_no_value(whole(document)) {
            return self.explain_type(report);
        }
        report.out.append_str("operatorName", "$jsonSchema");
        self.label(report);
        self.explain_rules("schemaRulesNotSatisfied", whole(document), report);
    }

    /// Title and description, which go with every explanation.
    fn label(&self, report: &mut Report) {
        if let Some(title) = &self.title {
            report.out.append_str("title", title);
        }
        if let Some(description) = &self.description {
            report.out.append_str("description", description);
        }
    }

    /// Writes, below this name, what is not satisfied.
    fn explain(&self, name: &str, value: Element<'_>, report: &mut Report) {
        if self.is_of_no_value(value) {
            report.out.begin_document(name);
            self.explain_type(report);
            report.out.end();
        } else {
            self.explain_rules(name, value, report);
        }
    }

    /// Writes an array of the rules that are not satisfied.
    fn explain_rules(&self, name: &str, value: Element<'_>, report: &mut Report) {
        report.out.begin_array(name);
        for statement in &self.statements {
            if statement.rule.accepts(value).unwrap_or(false) {
                continue;
            }
            report.out.begin_next_document();
            report.out.append_str("operatorName", statement.name);
            if statement.rule.is_repeated() {
                report.specified(&statement.given);
            }
            statement.rule.explain(value, report);
            report.out.end();
        }
        report.out.end();
    }

    /// Whether it describes whole documents and demands another type, which none has.
    fn is_of_no_value(&self, value: Element<'_>) -> bool {
        let mut types = self.statements.iter().filter(|it| matches!(it.name, "bsonType" | "type"));
        match types.next() {
            Some(statement) if self.whole => !statement.rule.accepts(value).unwrap_or(true),
            _ => false,
        }
    }

    fn explain_type(&self, report: &mut Report) {
        report.out.append_str("operatorName", "$jsonSchema");
        report.specified(&bson::rawdoc! { "$jsonSchema": self.source.clone() });
        report.reason("expression always evaluates to false");
    }
}

/// A keyword as an explanation repeats it.
fn repeated(element: Element<'_>, modifier: Option<&str>) -> RawDocumentBuf {
    let mut given = DocumentWriter::new();
    given.copy(element);
    if let Some(modifier) = modifier {
        given.append_bool(modifier, true);
    }
    given.finish()
}

/// Refuses keywords that are unknown or given twice.
fn check_keywords(schema: &RawDocument) -> Result<()> {
    let mut seen = Vec::new();
    for element in elements(schema) {
        if keywords::find(element.key).is_none() {
            return Err(unknown(element.key));
        }
        if seen.contains(&element.key) {
            let message = format!("Duplicate $jsonSchema keyword: {}", element.key);
            return Err(Code::FailedToParse.error(message));
        }
        seen.push(element.key);
    }
    Ok(())
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
