//! `properties`

use super::fields::Fields;
use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::{Rule, Schema};
use crate::{Needs, interrupt};
use error::Result;
use value::{Element, Path, elements};

pub const ROW: Keyword = Keyword { name: "properties", help: "A schema for each field.", parse };

#[derive(Debug)]
struct Properties(Vec<(Path, Schema)>);

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let mut properties = Vec::new();
    for element in elements(given.object()?) {
        properties.push((Path::new(element.key), given.schema_of(element)?));
    }
    Ok(Some(Box::new(Properties(properties))))
}

impl Rule for Properties {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        let Some(fields) = Fields::of(value, self.0.len()) else { return Ok(true) };
        for (path, schema) in &self.0 {
            interrupt::check()?;
            if fields.any(path, |field| schema.accepts(field))? == Some(false) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn needs(&self, needs: &mut Needs) {
        self.0.iter().for_each(|(path, _)| needs.add(path));
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        report.out.begin_array("propertiesNotSatisfied");
        if let Some(fields) = Fields::of(value, self.0.len()) {
            for (path, schema) in &self.0 {
                let accepted = fields.any(path, |field| Ok(schema.surely_accepts(field)));
                if let (Ok(Some(false)), Some(field)) = (accepted, fields.first(path)) {
                    explain_field(path, schema, field, report);
                }
            }
        }
        report.out.end();
    }
}

fn explain_field(path: &Path, schema: &Schema, field: Element<'_>, report: &mut Report) {
    report.out.begin_next_document();
    report.out.append_str("propertyName", path.as_str());
    schema.label(report);
    schema.explain("details", field, report);
    report.out.end();
}
