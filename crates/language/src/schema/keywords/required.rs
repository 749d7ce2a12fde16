//! `required`

use super::fields::Fields;
use super::{Given, Keyword, Parsed};
use crate::Needs;
use crate::report::Report;
use crate::schema::Rule;
use bson::RawBsonRef;
use error::Result;
use value::{Element, Path};

pub const ROW: Keyword = Keyword { name: "required", help: "Fields that must be there.", parse };

#[derive(Debug)]
struct Required(Vec<Path>);

fn parse(given: &Given<'_>) -> Result<Parsed> {
    Ok(Some(Box::new(Required(given.names(given.element)?))))
}

/// Those of the names that a document does not have.
pub fn missing<'n>(names: &'n [Path], fields: &Fields<'_>) -> Vec<&'n str> {
    names.iter().filter(|name| !fields.has(name)).map(Path::as_str).collect()
}

pub fn explain_missing(missing: &[&str], report: &mut Report) {
    report.out.begin_array("missingProperties");
    missing.iter().for_each(|name| report.out.push(RawBsonRef::String(name)));
    report.out.end();
}

impl Rule for Required {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(Fields::of(value, self.0.len())
            .is_none_or(|fields| self.0.iter().all(|name| fields.has(name))))
    }

    /// It asks whether they are there, not what they are; what has fields must be seen for that.
    fn needs(&self, needs: &mut Needs) {
        self.0.iter().filter(|name| name.len() > 1).for_each(|name| needs.add(name));
    }

    fn depends_on(&self, needs: &mut Needs) {
        self.0.iter().for_each(|name| needs.add(name));
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        let fields = Fields::of(value, self.0.len());
        let mut missing = fields.map_or_else(Vec::new, |fields| missing(&self.0, &fields));
        missing.sort_unstable();
        explain_missing(&missing, report);
    }
}
