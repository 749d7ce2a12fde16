//! A filter as it was written, clause by clause.

use super::leaf::Leaf;
use crate::Context;
use crate::aggregate::expressions::Expression;
use crate::query::operators::Expr;
use crate::query::parse::is_operators;
use crate::query::{Filter, Node};
use crate::report::Report;
use crate::schema::Schema;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;
use std::sync::Arc;
use value::element::{array_elements, get};
use value::{DocumentWriter, Element, elements};

#[derive(Debug)]
pub enum Clause {
    /// `$and`, and conditions that stand side by side.
    And(Vec<Clause>),
    Or(Vec<Clause>),
    Nor(Vec<Clause>),
    Not(Box<Clause>),
    Field(Leaf),
    Schema(Arc<Schema>),
    /// `$expr`, as it was given.
    Expression(Arc<Expr>, RawDocumentBuf),
    /// What looks at no field: `$alwaysTrue`, `$sampleRate`.
    Other(String, Filter, RawDocumentBuf),
}

/// Which clauses of a list an account tells of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    All,
    Matching,
    Failing,
}

impl Clause {
    pub fn parse(filter: &RawDocument, context: &Context) -> Result<Clause> {
        let mut clauses = Vec::new();
        for element in elements(filter) {
            match element.key {
                "$and" => clauses.push(Clause::And(list(element, context)?)),
                "$or" => clauses.push(Clause::Or(list(element, context)?)),
                "$nor" => clauses.push(Clause::Nor(list(element, context)?)),
                "$comment" => {}
                key if key.starts_with('$') => clauses.push(special(element, context)?),
                _ => field(element, context, &mut clauses)?,
            }
        }
        Ok(together(clauses))
    }

    /// Writes why a document does not satisfy the clause or, inverted, why it does.
    pub fn explain(&self, document: &RawDocument, inverted: bool, report: &mut Report) {
        match self {
            Clause::And(clauses) => {
                let told = if inverted { Told::All } else { Told::Failing };
                Clause::explain_list("$and", clauses, told, inverted, document, report);
            }
            Clause::Or(clauses) => {
                let told = if inverted { Told::Matching } else { Told::All };
                Clause::explain_list("$or", clauses, told, inverted, document, report);
            }
            Clause::Nor(clauses) => {
                let told = if inverted { Told::All } else { Told::Matching };
                Clause::explain_list("$nor", clauses, told, !inverted, document, report);
            }
            Clause::Not(clause) => {
                report.out.append_str("operatorName", "$not");
                report.out.begin_document("details");
                clause.explain(document, !inverted, report);
                report.out.end();
            }
            Clause::Field(leaf) => leaf.explain(document, inverted, report),
            Clause::Schema(schema) if inverted => {
                report.out.append_str("operatorName", "$jsonSchema");
                report.reason("schema matched");
                let given = |report: &mut Report| report.specified(&whole(schema));
                report.in_words(given);
            }
            Clause::Schema(schema) => schema.explain_document(document, report),
            Clause::Expression(expr, given) => {
                explain_expression(&expr.expression, given, document, inverted, report);
            }
            Clause::Other(name, _, given) => explain_other(name, given, inverted, report),
        }
    }

    fn explain_list(
        name: &str,
        clauses: &[Clause],
        told: Told,
        inverted: bool,
        document: &RawDocument,
        report: &mut Report,
    ) {
        report.out.append_str("operatorName", name);
        report.out.begin_array(if inverted { "clausesSatisfied" } else { "clausesNotSatisfied" });
        for (index, clause) in clauses.iter().enumerate() {
            if !clause.is_told(told, document) {
                continue;
            }
            report.out.begin_next_document();
            report.out.append_i32("index", index as i32);
            report.out.begin_document("details");
            clause.explain(document, inverted, report);
            report.out.end();
            report.out.end();
        }
        report.out.end();
    }

    /// What cannot be evaluated is always told of.
    fn is_told(&self, told: Told, document: &RawDocument) -> bool {
        match told {
            Told::All => true,
            Told::Matching => self.matches(document).unwrap_or(true),
            Told::Failing => !self.matches(document).unwrap_or(false),
        }
    }

    fn matches(&self, document: &RawDocument) -> Result<bool> {
        let any = |clauses: &[Clause], wanted: bool| -> Result<bool> {
            for clause in clauses {
                if clause.matches(document)? == wanted {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        match self {
            Clause::And(clauses) => Ok(!any(clauses, false)?),
            Clause::Or(clauses) => any(clauses, true),
            Clause::Nor(clauses) => Ok(!any(clauses, true)?),
            Clause::Not(clause) => Ok(!clause.matches(document)?),
            Clause::Field(leaf) => leaf.matches(document),
            Clause::Schema(schema) => schema.accepts_document(document),
            Clause::Expression(expr, _) => {
                let value = expr.expression.evaluate(document)?;
                Ok(value.is_some_and(|value| value::value::is_true(value.get())))
            }
            Clause::Other(_, filter, _) => filter.matches(document),
        }
    }
}

/// A schema as it was given.
fn whole(schema: &Schema) -> RawDocumentBuf {
    bson::rawdoc! { "$jsonSchema": schema.source().to_owned() }
}

/// One clause stands for itself.
fn together(mut clauses: Vec<Clause>) -> Clause {
    match clauses.pop() {
        Some(only) if clauses.is_empty() => only,
        Some(last) => {
            clauses.push(last);
            Clause::And(clauses)
        }
        None => Clause::And(clauses),
    }
}

fn list(element: Element<'_>, context: &Context) -> Result<Vec<Clause>> {
    let RawBsonRef::Array(array) = element.value() else { return Ok(Vec::new()) };
    let entries = array_elements(array).filter_map(|entry| entry.as_document());
    entries.map(|entry| Clause::parse(entry, context)).collect()
}

fn special(element: Element<'_>, context: &Context) -> Result<Clause> {
    let given = alone(element);
    let filter = Filter::parse_validator(&given, context)?;
    Ok(match filter.root {
        Node::JsonSchema(schema) => Clause::Schema(schema),
        Node::Expr(expr) => Clause::Expression(expr, given),
        _ => Clause::Other(element.key.to_owned(), filter, given),
    })
}

/// The clauses of `path: value` or `path: {$op: …, …}`.
fn field(element: Element<'_>, context: &Context, clauses: &mut Vec<Clause>) -> Result<()> {
    match element.value() {
        RawBsonRef::Document(conditions) if is_operators(conditions) => {
            operators(element.key, conditions, context, clauses)
        }
        RawBsonRef::RegularExpression(_) => {
            clauses.push(Clause::Field(Leaf::new("$regex", element.key, alone(element), context)?));
            Ok(())
        }
        _ => {
            clauses.push(Clause::Field(Leaf::new("$eq", element.key, alone(element), context)?));
            Ok(())
        }
    }
}

fn operators(
    path: &str,
    conditions: &RawDocument,
    context: &Context,
    clauses: &mut Vec<Clause>,
) -> Result<()> {
    for operator in elements(conditions) {
        let given = match (operator.key, operator.value()) {
            // It goes with `$regex`.
            ("$options", _) => continue,
            ("$not", RawBsonRef::Document(inner)) => {
                let mut negated = Vec::new();
                operators(path, inner, context, &mut negated)?;
                clauses.push(Clause::Not(Box::new(together(negated))));
                continue;
            }
            ("$not", _) => {
                let leaf = Leaf::new("$regex", path, renamed(path, operator), context)?;
                clauses.push(Clause::Not(Box::new(Clause::Field(leaf))));
                continue;
            }
            ("$regex", _) => under(path, operator, get(conditions, "$options")),
            _ => under(path, operator, None),
        };
        clauses.push(Clause::Field(Leaf::new(operator.key, path, given, context)?));
    }
    Ok(())
}

/// A filter of one element.
fn alone(element: Element<'_>) -> RawDocumentBuf {
    renamed(element.key, element)
}

fn renamed(path: &str, element: Element<'_>) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    out.copy_as(path, element);
    out.finish()
}

/// A filter of one operator on a field, and what goes with it.
fn under(path: &str, operator: Element<'_>, other: Option<Element<'_>>) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    out.begin_document(path);
    out.copy(operator);
    other.into_iter().for_each(|other| out.copy(other));
    out.finish()
}

fn explain_expression(
    expression: &Expression,
    given: &RawDocument,
    document: &RawDocument,
    inverted: bool,
    report: &mut Report,
) {
    report.out.append_str("operatorName", "$expr");
    report.specified(given);
    match expression.evaluate(document) {
        Ok(value) => {
            let reason = if inverted { "expression did match" } else { "expression did not match" };
            report.reason(reason);
            if let Some(value) = value {
                report.result("expressionResult", value.get());
            }
        }
        Err(error) => report.failed("evaluate aggregation expression", &error),
    }
}

fn explain_other(name: &str, given: &RawDocument, inverted: bool, report: &mut Report) {
    report.out.append_str("operatorName", name);
    report.specified(given);
    if name == "$sampleRate" {
        let reason = if inverted { "expression did match" } else { "expression did not match" };
        report.reason(reason);
        report.result("expressionResult", RawBsonRef::Boolean(inverted));
    } else {
        let which = if inverted { "true" } else { "false" };
        report.reason(&format!("expression always evaluates to {which}"));
    }
}
