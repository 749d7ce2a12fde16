//! Equality of values where the order of fields does not count, as JSON has it.

use bson::spec::ElementType;
use value::key::{Direction, Key};
use value::{DocumentWriter, Element};

/// Bytes that are equal for values that are equal but for the order of fields.
pub fn key(value: Element<'_>) -> Vec<u8> {
    let mut sorted = DocumentWriter::new();
    write("", value, &mut sorted);
    let sorted = sorted.finish();
    let mut key = Key::default();
    if let Some(element) = value::elements(&sorted).next() {
        key.push(element.value(), Direction::Ascending, None);
    }
    key.bytes
}

fn write(name: &str, value: Element<'_>, out: &mut DocumentWriter) {
    match value.kind {
        ElementType::EmbeddedDocument => {
            let mut fields: Vec<_> = value.children().collect();
            fields.sort_by_key(|field| field.key);
            out.begin_document(name);
            fields.into_iter().for_each(|field| write(field.key, field, out));
            out.end();
        }
        ElementType::Array => {
            out.begin_array(name);
            value.children().for_each(|item| write(item.key, item, out));
            out.end();
        }
        _ => out.copy_as(name, value),
    }
}
