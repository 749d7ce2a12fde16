//! `allOf`, `anyOf`, `oneOf`, `not`

use super::{Given, Keyword};
use crate::report::Report;
use crate::schema::{Rule, Schema, wrong_type};
use bson::RawBsonRef;
use error::{Code, Result};
use value::Element;
use value::element::array_elements;

pub const ALL_OF: Keyword = Keyword {
    name: "allOf",
    help: "All of these schemas.",
    parse: |given| Ok(Some(Box::new(AllOf(schemas(given)?)))),
};
pub const ANY_OF: Keyword = Keyword {
    name: "anyOf",
    help: "At least one of these schemas.",
    parse: |given| Ok(Some(Box::new(AnyOf(schemas(given)?)))),
};
pub const NOT: Keyword = Keyword {
    name: "not",
    help: "Not this schema.",
    parse: |given| Ok(Some(Box::new(Not(given.same_schema(given.object()?)?)))),
};
pub const ONE_OF: Keyword = Keyword {
    name: "oneOf",
    help: "Exactly one of these schemas.",
    parse: |given| Ok(Some(Box::new(OneOf(schemas(given)?)))),
};

#[derive(Debug)]
struct AllOf(Vec<Schema>);
#[derive(Debug)]
struct AnyOf(Vec<Schema>);
#[derive(Debug)]
struct OneOf(Vec<Schema>);
#[derive(Debug)]
struct Not(Schema);

fn schemas(given: &Given<'_>) -> Result<Vec<Schema>> {
    let RawBsonRef::Array(array) = given.element.value() else {
        return Err(wrong_type(given.name(), "must be an array"));
    };
    let mut schemas = Vec::new();
    for item in array_elements(array).values() {
        match item {
            RawBsonRef::Document(schema) => schemas.push(given.same_schema(schema)?),
            _ => return Err(wrong_type(given.name(), "must be an array of objects")),
        }
    }
    if schemas.is_empty() {
        let message = format!("$jsonSchema keyword '{}' must be a non-empty array", given.name());
        return Err(Code::BadValue.error(message));
    }
    Ok(schemas)
}

/// The places of the schemas that accept the value.
fn accepting(schemas: &[Schema], value: Element<'_>) -> Result<Vec<usize>> {
    let mut places = Vec::new();
    for (place, schema) in schemas.iter().enumerate() {
        if schema.accepts(value)? {
            places.push(place);
        }
    }
    Ok(places)
}

fn not_satisfied(schemas: &[Schema], value: Element<'_>, report: &mut Report) -> Result<()> {
    report.out.begin_array("schemasNotSatisfied");
    for (place, schema) in schemas.iter().enumerate() {
        if schema.accepts(value)? {
            continue;
        }
        report.out.begin_next_document();
        report.out.append_i32("index", place as i32);
        schema.label(report);
        schema.explain("details", value, report)?;
        report.out.end();
    }
    report.out.end();
    Ok(())
}

impl Rule for AllOf {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(accepting(&self.0, value)?.len() == self.0.len())
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) -> Result<()> {
        not_satisfied(&self.0, value, report)
    }
}

impl Rule for AnyOf {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(!accepting(&self.0, value)?.is_empty())
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) -> Result<()> {
        not_satisfied(&self.0, value, report)
    }
}

impl Rule for OneOf {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(accepting(&self.0, value)?.len() == 1)
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) -> Result<()> {
        let accepting = accepting(&self.0, value)?;
        if accepting.is_empty() {
            return not_satisfied(&self.0, value, report);
        }
        report.reason("more than one subschema matched");
        report.out.begin_array("matchingSchemaIndexes");
        accepting.iter().for_each(|place| report.out.push(RawBsonRef::Int32(*place as i32)));
        report.out.end();
        Ok(())
    }
}

impl Rule for Not {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(!self.0.accepts(value)?)
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, _: Element<'_>, report: &mut Report) -> Result<()> {
        report.reason("child expression matched");
        Ok(())
    }
}
