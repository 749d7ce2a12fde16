//! `$currentDate`: the command's time, as a date or a timestamp.

use super::super::operator::{Absent, Argument, Operator};
use super::super::place::Place;
use super::super::timestamp;
use super::super::walk::{Facts, Run};
use super::Row;
use bson::RawBsonRef;
use error::{Code, Result};
use std::sync::Arc;
use value::{DocumentWriter, Element};

pub const ROW: Row =
    Row { name: "$currentDate", parse, help: "set a field to the current date or timestamp" };

#[derive(Debug)]
struct CurrentDate {
    now: RawBsonRef<'static>,
}

fn parse(argument: &Argument<'_>) -> Result<Arc<dyn Operator>> {
    let date = RawBsonRef::DateTime(argument.context.now);
    let timestamp = RawBsonRef::Timestamp(timestamp(argument.context));
    let now = match argument.value() {
        RawBsonRef::Boolean(_) => date,
        RawBsonRef::Document(_) => {
            let mut found = None;
            for option in argument.field.children() {
                match (option.key, option.value()) {
                    ("$type", RawBsonRef::String("date")) => found = Some(date),
                    ("$type", RawBsonRef::String("timestamp")) => found = Some(timestamp),
                    ("$type", _) => {}
                    (key, _) => {
                        return Err(Code::BadValue
                            .error(format!("Unrecognized $currentDate option: {key}")));
                    }
                }
            }
            found.ok_or_else(|| {
                Code::BadValue.error(
                    "The '$type' string field is required to be 'date' or 'timestamp': \
                     {$currentDate: {field : {$type: 'date'}}}",
                )
            })?
        }
        _ => {
            return Err(Code::BadValue.error(format!(
                "{} is not valid type for $currentDate. Please use a boolean ('true') or a $type \
                 expression ({{$type: 'timestamp/date'}}).",
                argument.type_name()
            )));
        }
    };
    Ok(Arc::new(CurrentDate { now }))
}

impl Operator for CurrentDate {
    fn update<'d>(&self, old: Element<'d>, _: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        run.edits.replace(old, |out| out.append(old.key, self.now))
    }

    fn absent(&self, _: &Facts<'_>) -> Result<Absent> {
        Ok(Absent::Creates)
    }

    fn create(
        &self,
        key: &str,
        _: &Place<'_>,
        _: &Facts<'_>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        out.append(key, self.now);
        Ok(())
    }

    fn reads(&self) -> bool {
        false
    }
}
