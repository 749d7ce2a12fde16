//! `allOf`, `anyOf`, `oneOf`, `not`

use super::{Given, Keyword};
use crate::report::Report;
use crate::schema::{Rule, Schema, wrong_type};
use bson::{RawArrayBuf, RawBsonRef, rawdoc};
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

/// How many of the schemas accept the value.
fn accepting(schemas: &[Schema], value: Element<'_>) -> Result<usize> {
    let mut count = 0;
    for schema in schemas {
        count += usize::from(schema.accepts(value)?);
    }
    Ok(count)
}

fn not_satisfied(schemas: &[Schema], value: Element<'_>, report: &mut Report) {
    report.out.begin_array("schemasNotSatisfied");
    for (place, schema) in schemas.iter().enumerate() {
        if schema.surely_accepts(value) {
            continue;
        }
        report.out.begin_next_document();
        report.out.append_i32("index", place as i32);
        if !schema.is_of_no_value(value) {
            schema.label(report);
        }
        schema.explain("details", value, report);
        report.out.end();
    }
    report.out.end();
}

impl Rule for AllOf {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(accepting(&self.0, value)? == self.0.len())
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        not_satisfied(&self.0, value, report);
    }
}

impl Rule for AnyOf {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(accepting(&self.0, value)? > 0)
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        not_satisfied(&self.0, value, report);
    }
}

impl Rule for OneOf {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(accepting(&self.0, value)? == 1)
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        let accepts = |(_, schema): &(usize, &Schema)| schema.surely_accepts(value);
        let accepting: Vec<_> = self.0.iter().enumerate().filter(accepts).collect();
        // One that accepts is not enough where another cannot be evaluated.
        if accepting.len() <= 1 {
            return not_satisfied(&self.0, value, report);
        }
        report.reason("more than one subschema matched");
        report.out.begin_array("matchingSchemaIndexes");
        for (place, _) in accepting {
            report.out.push(RawBsonRef::Int32(place as i32));
        }
        report.out.end();
        report.in_words(|report| {
            let given: RawArrayBuf =
                self.0.iter().map(|schema| schema.source().to_owned()).collect();
            report.specified(&rawdoc! { "oneOf": given });
            report.considered("consideredValue", value);
        });
    }
}

impl Rule for Not {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(!self.0.accepts(value)?)
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        match self.0.accepts(value) {
            Err(error) => report.failed("evaluate child expression", &error),
            Ok(_) => report.reason("child expression matched"),
        }
        report.in_words(|report| {
            report.specified(&rawdoc! { "not": self.0.source().to_owned() });
            report.considered("consideredValue", value);
        });
    }
}
