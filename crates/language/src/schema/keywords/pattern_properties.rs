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
struct PatternProperties(Vec<(String, pcre2::bytes::Regex, Schema)>);

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let mut patterns = Vec::new();
    for element in elements(given.object()?) {
        let compiled = regex::compile(element.key, "", "patternProperties")?;
        patterns.push((element.key.to_owned(), compiled, given.schema_of(element)?));
    }
    Ok(Some(Box::new(PatternProperties(patterns))))
}

impl PatternProperties {
    /// The first field, for each pattern, that does not satisfy its schema.
    fn failing<'a>(
        &'a self,
        value: Element<'a>,
    ) -> impl Iterator<Item = Result<(&'a str, &'a Schema, Element<'a>)>> {
        let is_document = value.kind == ElementType::EmbeddedDocument;
        let patterns = self.0.iter().filter(move |_| is_document);
        patterns.filter_map(move |(pattern, compiled, schema)| {
            for field in value.children() {
                let fails = regex::is_match(compiled, field.key)
                    .and_then(|falls_under| Ok(falls_under && !schema.accepts(field)?));
                match fails {
                    Ok(false) => {}
                    Ok(true) => return Some(Ok((pattern.as_str(), schema, field))),
                    Err(error) => return Some(Err(error)),
                }
            }
            None
        })
    }
}

impl Rule for PatternProperties {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        match self.failing(value).next() {
            None => Ok(true),
            Some(failing) => failing.map(|_| false),
        }
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) -> Result<()> {
        report.out.begin_array("details");
        for failing in self.failing(value) {
            let (pattern, schema, field) = failing?;
            report.out.begin_next_document();
            report.out.append_str("propertyName", field.key);
            schema.label(report);
            report.out.append_str("regexMatched", pattern);
            schema.explain("details", field, report)?;
            report.out.end();
        }
        report.out.end();
        Ok(())
    }
}
