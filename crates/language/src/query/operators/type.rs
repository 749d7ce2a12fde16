//! `$type`

use super::{Argument, FieldOperator};
use crate::query::Predicate;
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::{Code, Result};
use value::Number;
use value::element::array_elements;

pub const ROW: FieldOperator =
    FieldOperator { name: "$type", help: "A value of one of these types.", parse };

/// Every type: its number, its name, itself.
pub const TYPES: &[(i32, &str, ElementType)] = &[
    (-1, "minKey", ElementType::MinKey),
    (1, "double", ElementType::Double),
    (2, "string", ElementType::String),
    (3, "object", ElementType::EmbeddedDocument),
    (4, "array", ElementType::Array),
    (5, "binData", ElementType::Binary),
    (6, "undefined", ElementType::Undefined),
    (7, "objectId", ElementType::ObjectId),
    (8, "bool", ElementType::Boolean),
    (9, "date", ElementType::DateTime),
    (10, "null", ElementType::Null),
    (11, "regex", ElementType::RegularExpression),
    (12, "dbPointer", ElementType::DbPointer),
    (13, "javascript", ElementType::JavaScriptCode),
    (14, "symbol", ElementType::Symbol),
    (15, "javascriptWithScope", ElementType::JavaScriptCodeWithScope),
    (16, "int", ElementType::Int32),
    (17, "timestamp", ElementType::Timestamp),
    (18, "long", ElementType::Int64),
    (19, "decimal", ElementType::Decimal128),
    (127, "maxKey", ElementType::MaxKey),
];

/// A set of types.
#[derive(Debug, Clone, Default)]
pub struct Types {
    pub kinds: Vec<ElementType>,
    /// Whether "number" was asked for, as it is shown.
    pub all_numbers: bool,
}

impl Types {
    /// A name, a number, or an array of these.
    pub fn parse(value: RawBsonRef<'_>, field: &str) -> Result<Types> {
        let mut types = Types::default();
        match value {
            RawBsonRef::Array(array) => {
                for item in array_elements(array).values() {
                    types.add(item)?;
                }
                if types.kinds.is_empty() && !types.all_numbers {
                    let message = format!("{field} must match at least one type");
                    return Err(Code::FailedToParse.error(message));
                }
            }
            value => types.add(value)?,
        }
        Ok(types)
    }

    pub fn contains(&self, kind: ElementType) -> bool {
        self.kinds.contains(&kind) || self.all_numbers && is_number(kind)
    }

    fn add(&mut self, value: RawBsonRef<'_>) -> Result<()> {
        let kind = match (value, Number::from_value(value)) {
            (RawBsonRef::String("number"), _) => {
                self.all_numbers = true;
                return Ok(());
            }
            (RawBsonRef::String(name), _) => match by_name(name) {
                Some(kind) => kind,
                None => {
                    let message = format!("Unknown type name alias: {name}");
                    return Err(Code::BadValue.error(message));
                }
            },
            (_, Some(number)) => by_number(number)?,
            _ => {
                let message = "type must be represented as a number or a string";
                return Err(Code::TypeMismatch.error(message));
            }
        };
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        Ok(())
    }
}

/// The type with this name.
pub fn by_name(name: &str) -> Option<ElementType> {
    TYPES.iter().find(|(_, known, _)| *known == name).map(|(_, _, kind)| *kind)
}

fn by_number(number: Number) -> Result<ElementType> {
    let code = number.to_i32_exact();
    let found = TYPES.iter().find(|(known, _, _)| Some(*known) == code);
    found.map(|(_, _, kind)| *kind).ok_or_else(|| {
        let shown = crate::describe::value(number.to_ref());
        let hint = if code == Some(0) { ". Instead use {$exists:false}." } else { "" };
        Code::BadValue.error(format!("Invalid numerical type code: {shown}{hint}"))
    })
}

fn is_number(kind: ElementType) -> bool {
    use ElementType::*;
    matches!(kind, Int32 | Int64 | Double | Decimal128)
}

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Ok(Predicate::Type(Types::parse(argument.element.value(), argument.field)?))
}
