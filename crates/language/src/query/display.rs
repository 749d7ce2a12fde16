//! Filters with every operator spelled out, as `explain` shows them.

use super::operators::{Bits, In, Regex, Side, Test, Types};
use super::{Node, Predicate};
use bson::raw::RawRegexRef;
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocumentBuf};
use value::DocumentWriter;

/// The filter with every operator spelled out.
pub fn document(node: &Node) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    write(node, &mut out);
    out.finish()
}

fn write(node: &Node, out: &mut DocumentWriter) {
    match node {
        Node::And(nodes) => list("$and", nodes, out),
        Node::Or(nodes) => list("$or", nodes, out),
        Node::Nor(nodes) => list("$nor", nodes, out),
        Node::Field(path, predicate) => {
            out.begin_document(path.as_str());
            write_predicate(predicate, out);
            out.end();
        }
        Node::Expr(expr) => out.append("$expr", expr.source.as_raw_bson_ref()),
        Node::JsonSchema(schema) => out.append_document("$jsonSchema", schema.source()),
        Node::SampleRate(rate) => out.append_f64("$sampleRate", *rate),
        Node::True => {}
        Node::False => out.append_i32("$alwaysFalse", 1),
    }
}

/// In MongoDB's order: by operator, then by path.
fn list(name: &str, nodes: &[Node], out: &mut DocumentWriter) {
    let mut sorted: Vec<&Node> = nodes.iter().collect();
    sorted.sort_by_key(|node| rank(node));
    out.begin_array(name);
    for node in sorted {
        out.begin_next_document();
        write(node, out);
        out.end();
    }
    out.end();
}

fn rank(node: &Node) -> (u8, &str) {
    match node {
        Node::And(_) => (0, ""),
        Node::Or(_) => (1, ""),
        Node::Field(path, predicate) => (predicate_rank(predicate), path.as_str()),
        Node::Nor(_) => (19, ""),
        Node::False => (23, ""),
        Node::True => (24, ""),
        Node::Expr(..) | Node::JsonSchema(_) | Node::SampleRate(_) => (27, ""),
    }
}

fn predicate_rank(predicate: &Predicate) -> u8 {
    match predicate {
        Predicate::And(_) => 0,
        Predicate::ElemMatchObject(_) => 2,
        Predicate::ElemMatchValue(_) => 3,
        Predicate::Size(_) => 4,
        Predicate::Eq(_) => 5,
        Predicate::Lte(_) => 6,
        Predicate::Lt(_) => 7,
        Predicate::Gt(_) => 8,
        Predicate::Gte(_) => 9,
        Predicate::Regex(_) => 10,
        Predicate::Mod(_) => 11,
        Predicate::Exists(true) => 12,
        Predicate::In(_) => 13,
        Predicate::Bits(bits) => match bits.test {
            Test::AllSet => 14,
            Test::AllClear => 15,
            Test::AnySet => 16,
            Test::AnyClear => 17,
        },
        Predicate::Not(_) | Predicate::Exists(false) => 18,
        Predicate::Type(_) => 20,
        Predicate::Beyond(_) => 21,
    }
}

fn write_predicate(predicate: &Predicate, out: &mut DocumentWriter) {
    match predicate {
        Predicate::Eq(value) => out.append("$eq", value.as_raw_bson_ref()),
        Predicate::Gt(value) => out.append("$gt", value.as_raw_bson_ref()),
        Predicate::Gte(value) => out.append("$gte", value.as_raw_bson_ref()),
        Predicate::Lt(value) => out.append("$lt", value.as_raw_bson_ref()),
        Predicate::Lte(value) => out.append("$lte", value.as_raw_bson_ref()),
        Predicate::In(list) => write_in(list, out),
        Predicate::Regex(regex) => {
            out.append_str("$regex", &regex.pattern);
            if !regex.options.is_empty() {
                out.append_str("$options", &regex.options);
            }
        }
        Predicate::Exists(true) => out.append_bool("$exists", true),
        Predicate::Exists(false) => negated(&Predicate::Exists(true), out),
        Predicate::Not(inner) => negated(inner, out),
        Predicate::And(all) => all.iter().for_each(|one| write_predicate(one, out)),
        Predicate::ElemMatchObject(node) => {
            out.begin_document("$elemMatch");
            write(node, out);
            out.end();
        }
        Predicate::ElemMatchValue(all) => {
            out.begin_document("$elemMatch");
            all.iter().for_each(|one| write_predicate(one, out));
            out.end();
        }
        Predicate::Bits(bits) => write_bits(bits, out),
        Predicate::Mod(operator) => {
            out.begin_array("$mod");
            out.push(RawBsonRef::Int64(operator.divisor));
            out.push(RawBsonRef::Int64(operator.remainder));
            out.end();
        }
        Predicate::Size(size) => match i32::try_from(*size) {
            Ok(size) => out.append_i32("$size", size),
            Err(_) => out.append_i64("$size", *size),
        },
        Predicate::Type(types) => write_types(types, out),
        Predicate::Beyond(beyond) => {
            let operator = match (beyond.side, beyond.inclusive) {
                (Side::Above, false) => "$_internalExprGt",
                (Side::Above, true) => "$_internalExprGte",
                (Side::Below, false) => "$_internalExprLt",
                (Side::Below, true) => "$_internalExprLte",
            };
            out.append(operator, beyond.value.as_raw_bson_ref());
        }
    }
}

fn negated(predicate: &Predicate, out: &mut DocumentWriter) {
    out.begin_document("$not");
    write_predicate(predicate, out);
    out.end();
}

fn write_in(list: &In, out: &mut DocumentWriter) {
    out.begin_array("$in");
    list.values.iter().for_each(|value| out.push(value.as_raw_bson_ref()));
    list.patterns.iter().filter_map(regex_value).for_each(|regex| out.push(regex));
    out.end();
}

fn regex_value(regex: &Regex) -> Option<RawBsonRef<'_>> {
    let pattern = regex.pattern.as_str().try_into().ok()?;
    let options = regex.options.as_str().try_into().ok()?;
    Some(RawBsonRef::RegularExpression(RawRegexRef { pattern, options }))
}

fn write_bits(bits: &Bits, out: &mut DocumentWriter) {
    out.begin_array(match bits.test {
        Test::AllClear => "$bitsAllClear",
        Test::AllSet => "$bitsAllSet",
        Test::AnyClear => "$bitsAnyClear",
        Test::AnySet => "$bitsAnySet",
    });
    bits.positions.iter().for_each(|at| out.push(RawBsonRef::Int32(*at as i32)));
    out.end();
}

fn write_types(types: &Types, out: &mut DocumentWriter) {
    out.begin_array("$type");
    if types.all_numbers {
        out.push(RawBsonRef::String("number"));
    }
    for kind in &types.kinds {
        let code = match kind {
            ElementType::MinKey => -1,
            kind => *kind as i32,
        };
        out.push(RawBsonRef::Int32(code));
    }
    out.end();
}
