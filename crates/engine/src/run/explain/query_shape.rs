//! `queryShapeHash`: digits that queries of one shape share, whatever values they ask with.

use bson::RawBsonRef;
use command::Request;
use value::Element;
use value::element::{array_elements, elements};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The commands that have a shape.
const COMMANDS: &[&str] = &["aggregate", "distinct", "find"];

/// Arguments that are part of the shape without their values,
const SHAPED: &[&str] = &["filter", "let", "max", "min", "pipeline", "query"];

/// and those whose values are part of it. Inside a pipeline, these stages are like that.
const KEPT: &[&str] =
    &["$project", "$sort", "$unset", "collation", "hint", "key", "projection", "sort"];

/// The shape of a command that has one, in hexadecimal.
pub fn hash(request: &Request) -> Option<String> {
    let mut arguments = elements(request.body());
    let target = arguments.next()?;
    if !COMMANDS.contains(&request.name()) {
        return None;
    }
    let mut shape = Vec::new();
    push(&mut shape, request.database().as_bytes());
    append(&mut shape, target, true);
    for argument in arguments {
        match argument.key {
            key if KEPT.contains(&key) => append(&mut shape, argument, true),
            key if SHAPED.contains(&key) => append(&mut shape, argument, false),
            // How many there may be is no part of it, but that there is a bound.
            "limit" | "skip" => push(&mut shape, argument.key.as_bytes()),
            _ => {}
        }
    }
    let [high, low] = [0, 1].map(|seed| xxh3_128_with_seed(&shape, seed));
    Some(format!("{high:032X}{low:032X}"))
}

fn append(shape: &mut Vec<u8>, element: Element<'_>, kept: bool) {
    push(shape, element.key.as_bytes());
    let kept = kept || KEPT.contains(&element.key);
    match element.value() {
        RawBsonRef::Document(document) => {
            shape.push(b'{');
            elements(document).for_each(|element| append(shape, element, kept));
            shape.push(b'}');
        }
        RawBsonRef::Array(array) => {
            shape.push(b'[');
            let mut last = None;
            for element in array_elements(array) {
                // Lists of values are alike, however long.
                let is_value = !kept && !is_nested(element.value());
                if is_value && last == Some(element.kind) {
                    continue;
                }
                last = is_value.then_some(element.kind);
                append(shape, Element { key: "", ..element }, kept);
            }
            shape.push(b']');
        }
        _ if kept => push(shape, element.bytes),
        // In an expression, the path of a field.
        RawBsonRef::String(path) if path.starts_with('$') => push(shape, path.as_bytes()),
        _ => shape.push(element.kind as u8),
    }
}

fn is_nested(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Document(_) | RawBsonRef::Array(_) => true,
        RawBsonRef::String(text) => text.starts_with('$'),
        _ => false,
    }
}

/// Appends a text and where it ends.
fn push(shape: &mut Vec<u8>, text: &[u8]) {
    shape.extend_from_slice(text);
    shape.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawDocumentBuf, rawdoc};

    fn of(command: RawDocumentBuf) -> Option<String> {
        hash(&Request::from(command))
    }

    fn find(filter: RawDocumentBuf, sort: i32) -> RawDocumentBuf {
        rawdoc! { "find": "c", "filter": filter, "sort": { "a": sort }, "$db": "d" }
    }

    #[test]
    fn values_are_no_part_of_a_shape() {
        let one = of(find(rawdoc! { "a": 1, "b": { "$in": [1, 2] } }, 1)).unwrap();
        assert_eq!(one.len(), 64);
        assert_eq!(of(find(rawdoc! { "a": 2, "b": { "$in": [5, 6, 7] } }, 1)).unwrap(), one);
        for other in [
            find(rawdoc! { "a": 1, "b": { "$in": [1, 2] } }, -1),
            find(rawdoc! { "a": 1, "c": { "$in": [1, 2] } }, 1),
            find(rawdoc! { "a": "x", "b": { "$in": [1, 2] } }, 1),
        ] {
            assert_ne!(of(other).unwrap(), one);
        }
    }

    #[test]
    fn paths_and_stages_are() {
        let group = |id: &str| {
            of(rawdoc! { "aggregate": "c", "pipeline": [{ "$group": { "_id": id } }], "$db": "d" })
        };
        assert_ne!(group("$a"), group("$b"));
        assert_eq!(group("a"), group("b"));
        assert_eq!(of(rawdoc! { "update": "c", "$db": "d" }), None);
    }
}
