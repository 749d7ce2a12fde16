//! `dependencies`

use super::fields::Fields;
use super::required::{explain_missing, missing};
use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::{Rule, Schema, wrong_type};
use bson::RawBsonRef;
use error::Result;
use value::{Element, Path, elements};

pub const ROW: Keyword =
    Keyword { name: "dependencies", help: "What else must be there if a field is.", parse };

#[derive(Debug)]
struct Dependencies(Vec<(Path, Dependency)>);

#[derive(Debug)]
enum Dependency {
    Names(Vec<Path>),
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
        dependencies.push((Path::new(element.key), dependency));
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
        let Some(fields) = Fields::of(value, self.0.len()) else { return Ok(true) };
        for (name, dependency) in &self.0 {
            if fields.has(name) && !dependency.accepts(value)? {
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
        let fields = Fields::of(value, self.0.len());
        for (name, dependency) in &self.0 {
            let is_there = fields.as_ref().is_some_and(|fields| fields.has(name));
            if !is_there || dependency.accepts(value).unwrap_or(false) {
                continue;
            }
            report.out.begin_next_document();
            report.out.append_str("conditionalProperty", name.as_str());
            match dependency {
                Dependency::Names(names) => explain_missing(&missing(names, value), report),
                Dependency::Schema(schema) => schema.explain("details", value, report),
            }
            report.out.end();
        }
        report.out.end();
    }
}
