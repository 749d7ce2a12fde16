//! Types and sizes of values, and conversion between types.

mod base;
mod binary;
mod binary_size;
mod bson_size;
mod conversion;
mod convert;
mod is_number;
mod shorthand;
mod to_hashed_index_key;
mod type_;

use super::Row;
use super::table::Arity;

pub const ROWS: &[Row] = &[
    Row::call(
        "$binarySize",
        Arity::Exactly(1),
        binary_size::evaluate,
        "the bytes of a string or binary",
    ),
    Row::call("$bsonSize", Arity::Exactly(1), bson_size::evaluate, "the bytes of a document"),
    Row::own("$convert", convert::parse, "a value as another type"),
    Row::call("$isNumber", Arity::Exactly(1), is_number::evaluate, "whether a value is a number"),
    Row::call("$toBool", Arity::One(50723), shorthand::to_bool, "a value as a boolean"),
    Row::call("$toDate", Arity::One(50723), shorthand::to_date, "a value as a date"),
    Row::call("$toDecimal", Arity::One(50723), shorthand::to_decimal, "a value as a decimal"),
    Row::call("$toDouble", Arity::One(50723), shorthand::to_double, "a value as a double"),
    Row::own("$toHashedIndexKey", to_hashed_index_key::parse, "a value as hashed indexes have it"),
    Row::call("$toInt", Arity::One(50723), shorthand::to_int, "a value as an int32"),
    Row::call("$toLong", Arity::One(50723), shorthand::to_long, "a value as an int64"),
    Row::call("$toObjectId", Arity::One(50723), shorthand::to_object_id, "a value as an ObjectId"),
    Row::call("$toString", Arity::One(50723), shorthand::to_string, "a value as a string"),
    Row::call("$toUUID", Arity::One(50723), shorthand::to_uuid, "a string as a UUID"),
    Row::call("$type", Arity::Exactly(1), type_::evaluate, "the name of a value's type"),
];

#[cfg(test)]
mod tests;
