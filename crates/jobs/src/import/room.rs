//! Which documents over 16 MB a collection has room for.

use crate::overflow::Guarded;
use crate::record::{Partial, named};
use guard::patterns::place;

/// The collection, and the growth policy that holds there while documents come.
pub struct Room {
    pub guarded: Option<Guarded>,
    pub namespace: String,
}

impl Room {
    /// Refuses a document that would pass 16 MB whole, before a part of it is tried.
    pub fn check(&self, partial: &Partial) -> Result<(), String> {
        let guarded = self.guarded.as_ref();
        let overflows = |path| guarded.is_some_and(|guarded| guarded.overflow(path).is_some());
        let Some((path, total)) = partial.arrays.first() else { return Ok(()) };
        if partial.arrays.iter().any(|(path, _)| overflows(path)) {
            return Ok(());
        }
        Err(format!(
            "{} passes 16 MB with the {total} elements of '{path}', which does not overflow in \
             {}; set a growth policy first, with --with-policy or 'freeboard apply'",
            named(&place::id(&partial.document).into()),
            self.namespace
        ))
    }
}
