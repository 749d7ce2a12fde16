//! `dependencies`

use super::fields::Fields;
use super::required::{explain_missing, missing};
use super::{Given, Keyword, Parsed};
use crate::interrupt;
use crate::report::Report;
use crate::schema::{Rule, Schema, wrong_type};
use bson::RawBsonRef;
use error::Result;
use value::{Element, Path, elements};

pub const ROW: Keyword =
    Keyword { name: "dependencies", help: "What else must be there if a field is.", parse };

#[derive(Debug)]
struct Dependencies {
    of: Vec<(Path, Dependency)>,
    /// How many names there are, of fields and of what they depend on.
    names: usize,
}

#[derive(Debug)]
enum Dependency {
    Names(Vec<Path>),
    Schema(Schema),
}

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let mut dependencies = Vec::new();
    let mut names = 0;
    for element in elements(given.object()?) {
        let dependency = match element.value() {
            RawBsonRef::Array(_) => Dependency::Names(given.names(element)?),
            RawBsonRef::Document(schema) => Dependency::Schema(given.same_schema(schema)?),
            _ => return Err(wrong_type(given.name(), "must hold only objects and arrays")),
        };
        names += 1;
        if let Dependency::Names(others) = &dependency {
            names += others.len();
        }
        dependencies.push((Path::new(element.key), dependency));
    }
    Ok(Some(Box::new(Dependencies { of: dependencies, names })))
}

impl Dependency {
    fn accepts(&self, value: Element<'_>, fields: &Fields<'_>) -> Result<bool> {
        match self {
            Dependency::Names(names) => Ok(missing(names, fields).is_empty()),
            Dependency::Schema(schema) => schema.accepts(value),
        }
    }
}

impl Rule for Dependencies {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        let Some(fields) = Fields::of(value, self.names) else { return Ok(true) };
        for (name, dependency) in &self.of {
            interrupt::check()?;
            if fields.has(name) && !dependency.accepts(value, &fields)? {
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
        let fields = Fields::of(value, self.names);
        for (name, dependency) in &self.of {
            let Some(fields) = fields.as_ref().filter(|fields| fields.has(name)) else { continue };
            if dependency.accepts(value, fields).unwrap_or(false) {
                continue;
            }
            report.out.begin_next_document();
            report.out.append_str("conditionalProperty", name.as_str());
            match dependency {
                Dependency::Names(names) => explain_missing(&missing(names, fields), report),
                Dependency::Schema(schema) => schema.explain("details", value, report),
            }
            report.out.end();
        }
        report.out.end();
    }
}
