//! `$toInt` and its kin: `$convert` without its options.

use super::conversion::{Format, Subtype, To, convert};
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};
use bson::spec::BinarySubtype;

macro_rules! shorthands {
    ($($name:ident $kind:literal)*) => {
        $(pub fn $name<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
            apply(&arguments, To::kind($kind))
        })*
    };
}

shorthands! {
    to_bool "bool"
    to_date "date"
    to_decimal "decimal"
    to_double "double"
    to_int "int"
    to_long "long"
    to_object_id "objectId"
}

pub fn to_string<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    apply(&arguments, To { format: Some(Format::Auto), ..To::kind("string") })
}

pub fn to_uuid<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let subtype = Subtype::Known(BinarySubtype::Uuid.into());
    apply(&arguments, To { format: Some(Format::Uuid), subtype, ..To::kind("binData") })
}

fn apply<'a>(arguments: &Arguments<'_, 'a>, to: To) -> Evaluated<'a> {
    match arguments.get(0).filter(|_| !arguments.nullish(0)) {
        None => null(),
        Some(value) => own(convert(value, to)?),
    }
}
