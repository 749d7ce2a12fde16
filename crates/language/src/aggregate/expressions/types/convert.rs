//! `$convert`: a value as another type, with answers for nulls and failures.

use super::conversion::{Format, To, convert};
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::table::{Field, Named, optional, required};
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use value::element::elements;
use value::{Collator, Value};

const FIELDS: &[Field] = &[
    required("input", 9),
    required("to", 9),
    optional("onError"),
    optional("onNull"),
    optional("format"),
    optional("byteOrder"),
];
const TO: usize = 1;

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
                    key => {
                        return Err(Code::FailedToParse
                            .error(format!("$convert found an unknown argument in 'to': {key}")));
                    }
                }
            }
            if value.is_none() {
                return Err(Code::FailedToParse
                    .error("Missing required 'type' parameter to $convert's 'to' argument"));
            }
        }
        let Some(kind) = kind(value)? else { return Ok(None) };
        let mut to = To::kind(kind);
        if let Some(subtype) = subtype.filter(|subtype| !coerce::is_nullish(Some(*subtype))) {
            to.subtype = binary_subtype(subtype)?;
        }
        to.format = self.format(scope)?;
        to.big_endian = self.big_endian(scope)?;
        Ok(Some(to))
    }

    fn format<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Option<Format>> {
        let value = self.operand(4, scope)?;
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
        let value = self.operand(5, scope)?;
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

fn binary_subtype(value: RawBsonRef<'_>) -> Result<u8> {
    if !coerce::is_numeric(Some(value)) {
        return Err(Code::location(4341108).error(format!(
            "For BinData, $convert's 'subtype' argument must be a number, but is {}",
            coerce::type_name(Some(value))
        )));
    }
    let Some(number) = coerce::integral32(Some(value)) else {
        return Err(Code::location(4341106)
            .error("In $convert, numeric 'subtype' argument is not an integer"));
    };
    match u8::try_from(number) {
        Ok(number @ (0..=9 | 128..)) => Ok(number),
        _ => Err(Code::location(4341107).error(format!(
            "In $convert, numeric value for 'subtype' does not correspond to a BinData type: {number}"
        ))),
    }
}

impl Special for Convert {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.operand(0, scope)?;
        let to = self.to(scope)?;
        let Some(input) = input.as_ref().map(Value::get).filter(|v| !coerce::is_nullish(Some(*v)))
        else {
            return match self.operands.get(3) {
                Some(Some(instead)) => instead.evaluate(scope),
                _ => null(),
            };
        };
        let Some(to) = to else { return null() };
        match (convert(input, to), self.operands.get(2)) {
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

    /// A constant type that is none is found at once.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for operand in self.operands_mut() {
            operand.fold(collator)?;
        }
        if let Some(Some(Node::Constant(to))) = self.operands.get(TO) {
            let to = to.as_ref().map(RawBson::as_raw_bson_ref);
            if !matches!(to, Some(RawBsonRef::Document(_))) {
                kind(to)?;
            }
        }
        Ok(None)
    }
}
