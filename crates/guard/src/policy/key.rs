//! The keys of a collection's policy: one row a key.

use super::reader::Reader;
use super::{Policy, array, document};
use error::{Code, Result};

/// Reads the value of a key into a policy.
type Read = fn(&mut Policy, &Reader<'_>, &str) -> Result<()>;

/// One key of a policy.
pub struct Key {
    pub name: &'static str,
    pub help: &'static str,
    /// `None`: the pattern is not there yet.
    read: Option<Read>,
}

pub const KEYS: &[Key] = &[
    Key { name: "archive", help: "old documents move to another collection", read: None },
    Key { name: "arrays", help: "bounds of arrays, by path", read: Some(array::read) },
    Key { name: "bucket", help: "readings are kept in buckets", read: None },
    Key { name: "consolidate", help: "many collections become one", read: None },
    Key { name: "document", help: "bounds of the document", read: Some(document::read) },
    Key { name: "maintains", help: "fields of a parent are kept up to date", read: None },
    Key { name: "references", help: "copies of another document's fields", read: None },
    Key {
        name: "undeclared_arrays",
        help: "bounds of arrays that are not named",
        read: Some(document::read_undeclared),
    },
];

/// Reads every key of a policy.
pub fn read(policy: &mut Policy, reader: &Reader<'_>) -> Result<()> {
    for (at, element) in reader.elements().enumerate() {
        let row = KEYS.binary_search_by_key(&element.key, |row| row.name);
        let Some(row) = row.ok().and_then(|at| KEYS.get(at)) else {
            let known = KEYS.iter().filter(|row| row.read.is_some()).map(|row| row.name);
            return Err(reader.unknown(element.key, known));
        };
        let Some(read) = row.read else {
            return Err(Code::NotImplemented.error(format!(
                "the policy key '{}' ({}) is not supported by this version yet",
                reader.path(element.key),
                row.help
            )));
        };
        reader.check_new(element.key, at)?;
        read(policy, reader, element.key)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_so_that_keys_are_found() {
        assert!(KEYS.is_sorted_by_key(|row| row.name));
    }
}
