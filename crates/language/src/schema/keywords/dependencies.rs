//! `dependencies`

use super::required::{explain_missing, missing};
use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::{Rule, Schema, wrong_type};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use value::{Element, elements};

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
        let dependency = match element.value() {
            RawBsonRef::Array(_) => Dependency::Names(given.names(element)?),
            RawBsonRef::Document(schema) => Dependency::Schema(given.same_schema(schema)?),
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

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        report.out.begin_array("failingDependencies");
        for (name, dependency) in &self.0 {
            let is_there = value.children().find_key(name).is_some();
            if !is_there || dependency.accepts(value).unwrap_or(false) {
                continue;
            }
            report.out.begin_next_document();
            report.out.append_str("conditionalProperty", name);
            match dependency {
                Dependency::Names(names) => explain_missing(&missing(names, value), report),
                Dependency::Schema(schema) => schema.explain("details", value, report),
            }
            report.out.end();
        }
        report.out.end();
    }
}
