//! What is to be changed in a written document, so that what is said of its arrays is true.

use super::glance::Met;
use super::sidecar::{self, SidecarEdits};
use super::{Done, Seen};
use crate::patterns::fields::{self, Edits};
use crate::patterns::measured::ArrayLengths;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use write::Sidecar;

#[derive(Default)]
pub struct Amends<'r> {
    /// Of the fields that the policy names.
    pub edits: Edits<'r>,
    /// Of what no client sees.
    pub sidecar: SidecarEdits<'r>,
    pub lengths: ArrayLengths,
}

impl<'r> Amends<'r> {
    /// Adds what became of an array, which `now` shows as the update has left it.
    pub(super) fn add(&mut self, met: &Met<'r>, done: Done, now: &Seen<'_>) {
        met.measure(done.counters, &mut self.lengths);
        done.write(met.rule, now, self);
    }

    /// The sidecar of the document's next version.
    pub fn sidecar(&self, before: Option<&RawDocument>) -> Sidecar {
        sidecar::edit(before, &self.sidecar)
    }

    /// Edits a document. It may end as it was before the update: what that wrote may be no more
    /// than counters that the server knows better.
    pub fn write(&self, after: &mut RawDocumentBuf, altered: &mut bool) -> Result<()> {
        if !self.edits.is_empty() {
            *after = fields::edit_own(std::mem::take(after), &self.edits)?;
            *altered = true;
        }
        Ok(())
    }
}
