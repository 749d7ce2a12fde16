//! Documents made from index keys.

use crate::plan::IndexScan;
use crate::storage::Entry;
use bson::{RawBson, RawDocumentBuf};
use error::{Code, Result};
use value::{DocumentWriter, Path, key};

/// The values of an entry's key.
pub fn values(scan: &IndexScan, entry: &Entry) -> Result<Vec<RawBson>> {
    key::decode(entry.key(), entry.types(), &scan.directions()).ok_or_else(|| {
        Code::DataCorruptionDetected
            .error(format!("an entry of index '{}' cannot be read", scan.index.name))
    })
}

/// A document with the indexed fields where they stand in the stored document.
pub fn document(scan: &IndexScan, entry: &Entry) -> Result<RawDocumentBuf> {
    Ok(assemble(scan, &values(scan, entry)?))
}

pub fn assemble(scan: &IndexScan, values: &[RawBson]) -> RawDocumentBuf {
    let fields: Vec<(&Path, &RawBson)> =
        scan.index.fields.iter().map(|field| &field.path).zip(values).collect();
    let mut writer = DocumentWriter::new();
    nest(&mut writer, &fields, 0);
    writer.finish()
}

/// Writes fields that share their first `depth` components; those that share the
/// next one go into one document.
fn nest(writer: &mut DocumentWriter, fields: &[(&Path, &RawBson)], depth: usize) {
    let mut written: Vec<&str> = Vec::new();
    for (path, value) in fields {
        let component = path.component(depth);
        if written.contains(&component) {
            continue;
        }
        written.push(component);
        if path.len() == depth + 1 {
            writer.append(component, value.as_raw_bson_ref());
            continue;
        }
        let inner: Vec<_> = fields
            .iter()
            .filter(|(path, _)| path.len() > depth + 1 && path.component(depth) == component)
            .copied()
            .collect();
        writer.begin_document(component);
        nest(writer, &inner, depth + 1);
        writer.end();
    }
}
