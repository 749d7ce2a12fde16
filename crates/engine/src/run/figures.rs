//! Figures of replies.

use value::DocumentWriter;

/// A count, as an int where it is small enough.
pub fn append(out: &mut DocumentWriter, name: &str, count: u64) {
    match i32::try_from(count) {
        Ok(count) => out.append_i32(name, count),
        Err(_) => out.append_i64(name, i64::try_from(count).unwrap_or(i64::MAX)),
    }
}
