//! `$toHashedIndexKey`: the 64-bit hash that MongoDB's hashed indexes keep of a value.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use md5::{Digest, Md5};
use value::element::{Element, elements};
use value::order::class_of;
use value::{DocumentWriter, Number, Value};

/// What every hash begins with.
const SEED: i32 = 0;

#[derive(Debug)]
struct ToHashedIndexKey(Node);

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    Ok(Node::Special(Box::new(ToHashedIndexKey(parser.operand(operand)?))))
}

impl Special for ToHashedIndexKey {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let value = self.0.evaluate(scope)?;
        let value = value.as_ref().map_or(RawBsonRef::Null, Value::get);
        own(hash(value))
    }

    fn operands(&self) -> Vec<&Node> {
        vec![&self.0]
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        vec![&mut self.0]
    }
}

/// The first eight bytes of an MD5 over the type and the value, numbers as integers.
fn hash(value: RawBsonRef<'_>) -> i64 {
    let mut wrapped = DocumentWriter::new();
    wrapped.append("", value);
    let wrapped = wrapped.finish();
    let mut digest = Md5::new();
    digest.update(SEED.to_le_bytes());
    if let Some(element) = elements(&wrapped).next() {
        add(&mut digest, &element, false);
    }
    let digest = digest.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_le_bytes(first)
}

fn add(digest: &mut Md5, element: &Element<'_>, named: bool) {
    let class = match element.kind {
        ElementType::MinKey => -1,
        ElementType::Undefined => 0,
        kind => i32::from(class_of(kind)),
    };
    digest.update(class.to_le_bytes());
    if named {
        digest.update(element.key.as_bytes());
        digest.update([0]);
    }
    match element.value() {
        RawBsonRef::Document(document) => add_all(digest, elements(document)),
        RawBsonRef::Array(array) => add_all(digest, value::element::array_elements(array)),
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            digest.update(code.code.as_bytes());
            digest.update([0]);
            add_all(digest, elements(code.scope));
        }
        value => match Number::from_value(value) {
            Some(number) => digest.update(number.to_i64_saturated().to_le_bytes()),
            None => digest.update(element.bytes),
        },
    }
}

/// The elements of a document, and its end, which counts as one without a name.
fn add_all<'e>(digest: &mut Md5, elements: impl Iterator<Item = Element<'e>>) {
    for element in elements {
        add(digest, &element, true);
    }
    digest.update(0i32.to_le_bytes());
    digest.update([0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_mongodb() {
        // The example of MongoDB's manual, and a shard key that is often seen.
        assert_eq!(hash(RawBsonRef::String("string to hash")), 763543691661428748);
        assert_eq!(hash(RawBsonRef::Int32(1)), 5902408780260971510);
        // Numbers of one value have one hash, whatever their type.
        assert_eq!(hash(RawBsonRef::Int32(7)), hash(RawBsonRef::Double(7.9)));
    }
}
