//! `patternProperties`

use super::{Given, Keyword, Parsed};
use crate::regex;
use crate::report::Report;
use crate::schema::{Rule, Schema};
use bson::spec::ElementType;
use error::Result;
use value::{Element, elements};

pub const ROW: Keyword =
    Keyword { name: "patternProperties", help: "A schema for fields by pattern.", parse };

#[derive(Debug)]
struct PatternProperties(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    pattern: String,
    compiled: pcre2::bytes::Regex,
    /// For fields whose names it matches.
    schema: Schema,
}

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let mut patterns = Vec::new();
    for element in elements(given.object()?) {
        let compiled = regex::compile(element.key, "", "patternProperties")?;
        let pattern = element.key.to_owned();
        patterns.push(Pattern { pattern, compiled, schema: given.schema_of(element)? });
    }
    Ok(Some(Box::new(PatternProperties(patterns))))
}

impl PatternProperties {
    /// The patterns that speak about a value.
    fn patterns_of(&self, value: Element<'_>) -> &[Pattern] {
        if value.kind == ElementType::EmbeddedDocument { &self.0 } else { &[] }
    }
}

impl Pattern {
    fn accepts(&self, field: Element<'_>) -> Result<bool> {
        Ok(!regex::is_match(&self.compiled, field.key)? || self.schema.accepts(field)?)
    }

    fn explain(&self, field: Element<'_>, report: &mut Report) {
        report.out.append_str("propertyName", field.key);
        self.schema.label(report);
        report.out.append_str("regexMatched", &self.pattern);
        match regex::is_match(&self.compiled, field.key) {
            Err(error) => report.failed("evaluate regular expression", &error),
            Ok(_) => self.schema.explain("details", field, report),
        }
    }
}

impl Rule for PatternProperties {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        for pattern in self.patterns_of(value) {
            for field in value.children() {
                if !pattern.accepts(field)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn is_repeated(&self) -> bool {
        false
    }

    /// For each pattern the first field that fails is told.
    fn explain(&self, value: Element<'_>, report: &mut Report) {
        report.out.begin_array("details");
        for pattern in self.patterns_of(value) {
            let failing = |field: &Element<'_>| !pattern.accepts(*field).unwrap_or(false);
            if let Some(field) = value.children().find(failing) {
                report.out.begin_next_document();
                pattern.explain(field, report);
                report.out.end();
            }
        }
        report.out.end();
    }
}
