//! `$convert`: a value as another type, with answers for nulls and failures.

use super::conversion::{Format, Subtype, To, convert};
use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::table::{Field, Named, optional, required};
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::Value;
use value::element::elements;

const FIELDS: &[Field] = &[
    required("input", 9),
    required("to", 9),
    optional("onError"),
    optional("onNull"),
    optional("format"),
    optional("byteOrder"),
    optional("base"),
];
const TO: usize = 1;
const ON_ERROR: usize = 2;
const ON_NULL: usize = 3;
const FORMAT: usize = 4;
const BYTE_ORDER: usize = 5;
const BASE: usize = 6;

/// BSON's types by number and name.
const KINDS: &[(i32, &str)] = &[
    (1, "double"),
    (2, "string"),
    (3, "object"),
    (4, "array"),
    (5, "binData"),
    (6, "undefined"),
    (7, "objectId"),
    (8, "bool"),
    (9, "date"),
    (10, "null"),
    (11, "regex"),
    (12, "dbPointer"),
    (13, "javascript"),
    (14, "symbol"),
    (15, "javascriptWithScope"),
    (16, "int"),
    (17, "timestamp"),
    (18, "long"),
    (19, "decimal"),
    // What `$type` says of nothing; no value converts to it.
    (0, "missing"),
    (-1, "minKey"),
    (127, "maxKey"),
];

#[derive(Debug)]
struct Convert {
    /// By the order of the fields.
    operands: Vec<Option<Node>>,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let named = Named { fields: FIELDS, not_object: 9, unknown: 9, function: |_| null() };
    let operands = parser.named_operands("$convert", &named, operand)?;
    Ok(Node::Special(Box::new(Convert { operands })))
}

impl Convert {
    fn operand<'a>(&'a self, at: usize, scope: &'a Scope<'a>) -> Evaluated<'a> {
        match self.operands.get(at) {
            Some(Some(node)) => node.evaluate(scope),
            _ => Ok(None),
        }
    }

    /// What to convert to; `None` where it is null.
    fn to<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Option<To>> {
        let value = self.operand(TO, scope)?;
        let mut value = value.as_ref().map(Value::get);
        let mut subtype = None;
        if let Some(RawBsonRef::Document(document)) = value {
            (value, subtype) = (None, None);
            for element in elements(document) {
                match element.key {
                    "type" => value = Some(element.value()),
                    "subtype" => subtype = Some(element.value()),
                    _ => {}
                }
            }
            if coerce::is_nullish(value) {
                return Err(Code::FailedToParse.error(format!(
                    "$convert's 'to' argument must be a string or number, but is {}",
                    coerce::type_name(value)
                )));
            }
        }
        let Some(kind) = kind(value)? else { return Ok(None) };
        let mut to = To::kind(kind);
        if let Some(subtype) = subtype {
            to.subtype = binary_subtype(subtype);
        }
        Ok(Some(to))
    }

    fn format<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Option<Format>> {
        let value = self.operand(FORMAT, scope)?;
        Ok(match value.as_ref().map(Value::get) {
            value if coerce::is_nullish(value) => None,
            Some(RawBsonRef::String(name)) => Some(match name {
                "auto" => Format::Auto,
                "base64" => Format::Base64,
                "base64url" => Format::Base64Url,
                "hex" => Format::Hex,
                "utf8" => Format::Utf8,
                "uuid" => Format::Uuid,
                _ => {
                    return Err(Code::location(4341125)
                        .error(format!("Invalid 'format' argument for $convert: {name}")));
                }
            }),
            other => {
                return Err(Code::location(4341114).error(format!(
                    "$convert requires that 'format' be a string, found: {}",
                    coerce::type_name(other)
                )));
            }
        })
    }

    fn big_endian<'a>(&'a self, scope: &'a Scope<'a>) -> Result<bool> {
        let value = self.operand(BYTE_ORDER, scope)?;
        match value.as_ref().map(Value::get) {
            value if coerce::is_nullish(value) => Ok(false),
            Some(RawBsonRef::String("little")) => Ok(false),
            Some(RawBsonRef::String("big")) => Ok(true),
            Some(RawBsonRef::String(other)) => Err(Code::location(9130002)
                .error(format!("Invalid 'byteOrder' argument for $convert: {other}"))),
            other => Err(Code::location(9130001).error(format!(
                "$convert requires that 'byteOrder' be a string, found: {}",
                coerce::type_name(other)
            ))),
        }
    }

    fn base<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Option<u32>> {
        let value = self.operand(BASE, scope)?;
        let value = value.as_ref().map(Value::get);
        if coerce::is_nullish(value) {
            return Ok(None);
        }
        match coerce::integral32(value) {
            Some(2) => Ok(Some(2)),
            Some(8) => Ok(Some(8)),
            Some(10) => Ok(Some(10)),
            Some(16) => Ok(Some(16)),
            Some(other) => Err(Code::location(3501301).error(format!(
                "In $convert, 'base' argument must be 2, 8, 10 or 16, but is {other}"
            ))),
            None => Err(Code::location(3501300).error(format!(
                "In $convert, 'base' argument is not an integer, but is {}",
                coerce::type_name(value)
            ))),
        }
    }
}

fn kind(value: Option<RawBsonRef<'_>>) -> Result<Option<&'static str>> {
    match value {
        value if coerce::is_nullish(value) => Ok(None),
        Some(RawBsonRef::String(name)) => KINDS
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(_, name)| Some(*name))
            .ok_or_else(|| Code::BadValue.error(format!("Unknown type name: {name}"))),
        value if coerce::is_numeric(value) => {
            let Some(number) = coerce::integral32(value) else {
                return Err(Code::FailedToParse
                    .error("In $convert, numeric 'to' argument is not an integer"));
            };
            KINDS.iter().find(|(known, _)| *known == number).map(|(_, name)| Some(*name)).ok_or_else(
                || {
                    Code::FailedToParse.error(format!(
                        "In $convert, numeric value for 'to' does not correspond to a BSON type: {number}"
                    ))
                },
            )
        }
        other => Err(Code::FailedToParse.error(format!(
            "$convert's 'to' argument must be a string or number, but is {}",
            coerce::type_name(other)
        ))),
    }
}

fn binary_subtype(value: RawBsonRef<'_>) -> Subtype {
    if !coerce::is_numeric(Some(value)) {
        let words = "For BinData, $convert's 'subtype' argument must be a number";
        return Subtype::Wrong(4341108, words);
    }
    match coerce::integral32(Some(value)).map(u8::try_from) {
        None => {
            Subtype::Wrong(4341106, "In $convert, numeric 'subtype' argument is not an integer")
        }
        Some(Ok(number @ (0..=9 | 128..))) => Subtype::Known(number),
        Some(_) => Subtype::Wrong(
            4341107,
            "In $convert, numeric value for 'subtype' does not correspond to a BinData type",
        ),
    }
}

impl Special for Convert {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.operand(0, scope)?;
        let _held = Held::value(input.as_ref())?;
        let to = self.to(scope)?;
        let Some(input) = input.as_ref().map(Value::get).filter(|v| !coerce::is_nullish(Some(*v)))
        else {
            return match self.operands.get(ON_NULL) {
                Some(Some(instead)) => instead.evaluate(scope),
                _ => null(),
            };
        };
        let Some(mut to) = to else { return null() };
        to.format = self.format(scope)?;
        to.big_endian = self.big_endian(scope)?;
        to.base = self.base(scope)?;
        match (convert(input, to), self.operands.get(ON_ERROR)) {
            (Err(error), Some(Some(instead))) if error.code() == Code::ConversionFailure => {
                instead.evaluate(scope)
            }
            (converted, _) => own(converted?),
        }
    }

    fn operands(&self) -> Vec<&Node> {
        self.operands.iter().flatten().collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        self.operands.iter_mut().flatten().collect()
    }
}
