//! Documents made from index keys.

use crate::plan::IndexScan;
use crate::storage::Entry;
use bson::{RawBson, RawDocumentBuf};
use error::{Code, Result};
use language::Needs;
use std::sync::Arc;
use value::key::{self, Direction};
use value::{DocumentWriter, Path};

/// The values of an entry's key.
pub fn values(scan: &IndexScan, directions: &[Direction], entry: &Entry) -> Result<Vec<RawBson>> {
    key::decode(entry.key(), entry.types(), directions).ok_or_else(|| {
        Code::DataCorruptionDetected
            .error(format!("an entry of index '{}' cannot be read", scan.index.name))
    })
}

/// Makes documents with the needed fields, where they stand in the stored one.
pub struct Cover {
    scan: Arc<IndexScan>,
    directions: Vec<Direction>,
    /// The fields of the key that are needed. Of a path and one below it, the
    /// upper has both.
    fields: Vec<usize>,
}

impl Cover {
    pub fn new(scan: &Arc<IndexScan>, needs: &Needs) -> Cover {
        let needed: &[Path] = match needs {
            Needs::Paths(paths) => paths,
            Needs::All | Needs::Except(_) => &[],
        };
        let is_below =
            |path: &Path| needed.iter().any(|other| other != path && other.is_prefix_of(path));
        let is_needed = |path: &Path| needed.contains(path) && !is_below(path);
        let fields = &scan.index.fields;
        Cover {
            scan: Arc::clone(scan),
            directions: scan.directions(),
            fields: (0..fields.len()).filter(|at| is_needed(&fields[*at].path)).collect(),
        }
    }

    fn values(&self, entry: &Entry) -> Result<Vec<RawBson>> {
        values(&self.scan, &self.directions, entry)
    }

    /// A document, whatever null stands for in it.
    pub fn document(&self, entry: &Entry) -> Result<RawDocumentBuf> {
        Ok(self.assemble(&self.values(entry)?))
    }

    /// A document; `None` if the key cannot tell missing from null, or an empty
    /// array from nothing.
    pub fn certain(&self, entry: &Entry) -> Result<Option<RawDocumentBuf>> {
        let values = self.values(entry)?;
        let vague = |at: &usize| matches!(values[*at], RawBson::Null | RawBson::Undefined);
        Ok((!self.fields.iter().any(vague)).then(|| self.assemble(&values)))
    }

    fn assemble(&self, values: &[RawBson]) -> RawDocumentBuf {
        let path = |at: usize| &self.scan.index.fields[at].path;
        let fields: Vec<_> = self.fields.iter().map(|at| (path(*at), &values[*at])).collect();
        let mut writer = DocumentWriter::new();
        nest(&mut writer, &fields, 0);
        writer.finish()
    }
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
        let inner: Vec<_> =
            fields.iter().filter(|(path, _)| path.component(depth) == component).copied().collect();
        writer.begin_document(component);
        nest(writer, &inner, depth + 1);
        writer.end();
    }
}
