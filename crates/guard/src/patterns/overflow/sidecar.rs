//! What a policy keeps of arrays with pages where no client sees it:
//! `{<path>: {n, pages, bytes, first}}`, the last two where `Counters` know them.
//! It is there only while there are pages: before that the array itself is the count.

use super::Counters;
use super::counters::{int, number, signed, signed_number};
use crate::policy::Overflow;
use bson::RawDocument;
use smallvec::SmallVec;
use value::element::get;
use value::{DocumentWriter, Path, elements};
use write::Sidecar;

/// Arrays and what is to be kept of each; `None` if nothing is.
pub type SidecarEdits<'r> = SmallVec<[(&'r Path, Option<Counters>); 2]>;

/// What is kept of an array.
pub fn read(sidecar: Option<&RawDocument>, rule: &Overflow) -> Option<Counters> {
    let kept = get(sidecar?, rule.path.as_str())?;
    let keys = ["n", "pages", "bytes", "first"];
    let [count, pages, bytes, first] = kept.children().find_keys(keys);
    Some(Counters {
        count: number(count),
        pages: number(pages).unwrap_or(0),
        bytes: number(bytes),
        first: signed_number(first),
    })
}

/// The sidecar with these edits.
pub fn edit(sidecar: Option<&RawDocument>, edits: &[(&Path, Option<Counters>)]) -> Sidecar {
    if edits.is_empty() {
        return Sidecar::Stays;
    }
    let mut out = DocumentWriter::new();
    let mut is_empty = true;
    let is_edited = |key: &str| edits.iter().any(|(path, _)| path.as_str() == key);
    for field in sidecar.into_iter().flat_map(elements).filter(|field| !is_edited(field.key)) {
        out.copy(field);
        is_empty = false;
    }
    for (path, counters) in edits {
        let Some(Counters { count, pages, bytes, first }) = counters else { continue };
        out.begin_document(path.as_str());
        out.append("n", int(count.unwrap_or(0)).as_raw_bson_ref());
        out.append("pages", int(*pages).as_raw_bson_ref());
        for (key, known) in [("bytes", bytes.map(int)), ("first", first.map(signed))] {
            if let Some(known) = known {
                out.append(key, known.as_raw_bson_ref());
            }
        }
        out.end();
        is_empty = false;
    }
    Sidecar::Becomes((!is_empty).then(|| out.finish()))
}
