//! `patternProperties`

use super::{Given, Keyword, Parsed};
use crate::regex;
use crate::schema::{Rule, Schema};
use bson::spec::ElementType;
use error::Result;
use value::{DocumentWriter, Element, elements};

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
    /// Calls `visit` with each field that does not satisfy a schema it falls
    /// under, until it says false.
    fn failing<'a>(
        &'a self,
        value: Element<'a>,
        mut visit: impl FnMut(&'a str, &'a Schema, Element<'a>) -> Result<bool>,
    ) -> Result<()> {
        if value.kind != ElementType::EmbeddedDocument {
            return Ok(());
        }
        for field in value.children() {
            for (pattern, compiled, schema) in &self.0 {
                let fails = regex::is_match(compiled, field.key)? && !schema.accepts(field)?;
                if fails && !visit(pattern, schema, field)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl Rule for PatternProperties {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        let mut accepted = true;
        self.failing(value, |_, _, _| {
            accepted = false;
            Ok(false)
        })?;
        Ok(accepted)
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, out: &mut DocumentWriter) -> Result<()> {
        out.begin_array("details");
        self.failing(value, |pattern, schema, field| {
            out.begin_next_document();
            out.append_str("propertyName", field.key);
            schema.label(out);
            out.append_str("regexMatched", pattern);
            schema.explain("details", field, out)?;
            out.end();
            Ok(true)
        })?;
        out.end();
        Ok(())
    }
}
