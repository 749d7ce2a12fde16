//! How changes are packed into rows, each read by itself. A change is
//!
//! ```text
//! tree          u8: 0 entries, 1 records, 2 large
//! key length    u24
//! value length  u32, or the greatest for a removal
//! key, value
//! ```

use crate::storage::trees::{Damage, Failure, Tree, TreeChange};
use fjall::Slice;

/// How large a row becomes before the next begins: a value that the tree keeps apart.
const ROW_BYTES: usize = 256 * 1024;
/// The value length of a removal: no value is so long.
const REMOVED: u32 = u32::MAX;

/// Trees by their numbers. Rows that were written when only entries were packed have four bytes
/// for the length of a key, the first of them 0.
const TREES: [Tree; 3] = [Tree::Entries, Tree::Records, Tree::Large];

/// Packs changes until a row is full, and says how many they are; `None` if there are none.
pub fn row(changes: &[TreeChange]) -> Option<(Slice, usize)> {
    let (mut row, mut count) = (Vec::new(), 0);
    for TreeChange { tree, key, value } in changes {
        let length = value.as_ref().map_or(REMOVED, |value| value.len() as u32);
        row.extend_from_slice(&head(*tree, key.len()));
        row.extend_from_slice(&length.to_be_bytes());
        row.extend_from_slice(key);
        row.extend_from_slice(value.as_deref().unwrap_or_default());
        count += 1;
        if row.len() >= ROW_BYTES {
            break;
        }
    }
    (count > 0).then(|| (row.into(), count))
}

/// The tree and the length of a key; keys of the trees are shorter than 64 KB.
fn head(tree: Tree, key_bytes: usize) -> [u8; 4] {
    let tree = match tree {
        Tree::Entries => 0,
        Tree::Records => 1,
        Tree::Large => 2,
    };
    let [_, high, middle, low] = (key_bytes as u32).to_be_bytes();
    [tree, high, middle, low]
}

/// Adds what a row holds; `None` if it is damaged.
pub fn read(mut row: &[u8], changes: &mut Vec<TreeChange>) -> Option<()> {
    while !row.is_empty() {
        let ([tree, high, middle, low], rest) = row.split_first_chunk()?;
        let tree = *TREES.get(usize::from(*tree))?;
        let key_bytes = u32::from_be_bytes([0, *high, *middle, *low]) as usize;
        let (value_bytes, rest) = rest.split_first_chunk()?;
        let (key, rest) = rest.split_at_checked(key_bytes)?;
        let (value, rest) = match u32::from_be_bytes(*value_bytes) {
            REMOVED => (None, rest),
            length => rest.split_at_checked(length as usize).map(|(it, rest)| (Some(it), rest))?,
        };
        changes.push(TreeChange { tree, key: key.into(), value: value.map(Slice::from) });
        row = rest;
    }
    Some(())
}

pub fn damaged() -> Failure {
    Box::new(Damage("deferred changes of a commit are not readable".to_owned()))
}
