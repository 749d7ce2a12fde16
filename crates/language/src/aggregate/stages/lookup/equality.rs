//! The join by equality: which foreign values a document asks for.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use value::element::array_elements;
use value::{DocumentWriter, Path};

/// `{foreign: {$in: [the local values]}}`; of an array each element counts, and
/// a missing value is null.
pub fn filter(local: &Path, foreign: &str, document: &RawDocument) -> RawDocumentBuf {
    let mut values = Vec::new();
    collect(local, 0, RawBsonRef::Document(document), &mut values);
    if values.is_empty() {
        values.push(RawBsonRef::Null);
    }
    let mut filter = DocumentWriter::new();
    let patterns = values.iter().any(|value| matches!(value, RawBsonRef::RegularExpression(_)));
    if patterns {
        // In `$in` a regular expression is a pattern; here it is a value.
        filter.begin_array("$or");
        for value in values {
            filter.begin_next_document();
            filter.begin_document(foreign);
            filter.append("$eq", value);
            filter.end();
            filter.end();
        }
        filter.end();
    } else {
        filter.begin_document(foreign);
        match values.as_slice() {
            [value] => filter.append("$eq", *value),
            values => {
                filter.begin_array("$in");
                values.iter().for_each(|value| filter.push(*value));
                filter.end();
            }
        }
        filter.end();
    }
    filter.finish()
}

/// Every value at a path, through arrays; an array at its end gives its elements.
pub fn collect<'a>(path: &Path, at: usize, value: RawBsonRef<'a>, out: &mut Vec<RawBsonRef<'a>>) {
    match value {
        RawBsonRef::Array(array) if at == path.len() => {
            out.extend(array_elements(array).map(|element| element.value()));
        }
        value if at == path.len() => out.push(value),
        RawBsonRef::Document(document) => {
            if let Some(element) = value::element::get(document, path.component(at)) {
                collect(path, at + 1, element.value(), out);
            }
        }
        RawBsonRef::Array(array) => {
            if let Some(index) = path.index(at)
                && let Some(element) = array_elements(array).nth_value(index)
            {
                return collect(path, at + 1, element.value(), out);
            }
            for element in array_elements(array) {
                if let RawBsonRef::Document(_) = element.value() {
                    collect(path, at, element.value(), out);
                }
            }
        }
        _ => {}
    }
}
