//! `dependencies`

use super::required::{explain_missing, missing};
use super::{Given, Keyword, Parsed};
use crate::schema::{Rule, Schema, wrong_type};
use bson::spec::ElementType;
use error::Result;
use value::{DocumentWriter, Element, elements};

pub const ROW: Keyword =
    Keyword { name: "dependencies", help: "What else must be there if a field is.", parse };

#[derive(Debug)]
struct Dependencies(Vec<(String, Dependency)>);

#[derive(Debug)]
enum Dependency {
    Names(Vec<String>),
    Schema(Schema),
}

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let mut dependencies = Vec::new();
    for element in elements(given.object()?) {
        let dependency = match element.kind {
            ElementType::Array => Dependency::Names(given.names(element)?),
            ElementType::EmbeddedDocument => Dependency::Schema(given.schema_of(element)?),
            _ => return Err(wrong_type(given.name(), "must hold only objects and arrays")),
        };
        dependencies.push((element.key.to_owned(), dependency));
    }
    Ok(Some(Box::new(Dependencies(dependencies))))
}

impl Dependency {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        match self {
            Dependency::Names(names) => Ok(missing(names, value).is_empty()),
            Dependency::Schema(schema) => schema.accepts(value),
        }
    }
}

impl Rule for Dependencies {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        if value.kind != ElementType::EmbeddedDocument {
            return Ok(true);
        }
        for (name, dependency) in &self.0 {
            if value.children().find_key(name).is_some() && !dependency.accepts(value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, out: &mut DocumentWriter) -> Result<()> {
        out.begin_array("failingDependencies");
        for (name, dependency) in &self.0 {
            if value.children().find_key(name).is_none() || dependency.accepts(value)? {
                continue;
            }
            out.begin_next_document();
            out.append_str("conditionalProperty", name);
            match dependency {
                Dependency::Names(names) => explain_missing(names, value, out),
                Dependency::Schema(schema) => {
                    schema.label(out);
                    schema.explain("details", value, out)?;
                }
            }
            out.end();
        }
        out.end();
        Ok(())
    }
}
