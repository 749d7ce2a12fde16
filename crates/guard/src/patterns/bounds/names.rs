//! Fields that a policy looks for are there once.

use crate::patterns::place::check_single;
use crate::policy::{ArrayRule, Policy};
use bson::RawDocument;
use error::Result;
use rustc_hash::FxHashSet;
use value::{Path, elements};

/// Up to how many arrays a document is walked for each, to see that it names none twice.
const WALKED_ARRAYS_MAX: usize = 8;

/// Refuses a document with two fields of the same name on a path of its policy.
pub fn check(policy: &Policy, document: &RawDocument) -> Result<()> {
    let mut paths = policy.arrays.iter().flat_map(ArrayRule::paths);
    if policy.arrays.len() <= WALKED_ARRAYS_MAX {
        return paths.try_for_each(|path| check_single(document, path));
    }
    let mut seen = FxHashSet::default();
    let repeated: FxHashSet<&[u8]> =
        elements(document).keyed().map(|(key, _)| key).filter(|key| !seen.insert(*key)).collect();
    let is_plain = |path: &Path| path.len() == 1 && !repeated.contains(path.as_str().as_bytes());
    paths.filter(|path| !is_plain(path)).try_for_each(|path| check_single(document, path))
}
