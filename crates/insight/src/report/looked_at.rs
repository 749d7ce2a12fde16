//! How much of what was asked for an audit looked at: the first thing a report says.

use crate::figures::{count, percent};
use serde::{Deserialize, Serialize};

use super::{Collection, Note};

/// Reasons that the sentence names.
const REASONS_MAX: usize = 3;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LookedAt {
    pub extent: Extent,
    /// The share of the documents that were read; `None` where the server does not know how
    /// many there are.
    pub share: Option<f64>,
    /// The same for people.
    pub sentence: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Every document.
    #[default]
    All,
    /// A sample of every collection that was asked for.
    Sample,
    /// Something that was asked for could not be looked at.
    Part,
    /// No document was read.
    Nothing,
}

impl LookedAt {
    pub fn new(collections: &[Collection], notes: &[Note]) -> LookedAt {
        let read: u64 = collections.iter().map(|it| it.scanned).sum();
        let missed: Vec<&Note> = notes.iter().filter(|note| note.missed).collect();
        let whole = collections.iter().all(|it| it.whole);
        let all: Option<u64> = collections.iter().map(Collection::held).sum();
        // Of nothing there is no share.
        let share = all.filter(|all| *all > 0).map(|all| read as f64 / all as f64);
        let extent = match (read, missed.is_empty(), whole) {
            (0, ..) => Extent::Nothing,
            (_, false, _) => Extent::Part,
            (_, true, false) => Extent::Sample,
            (_, true, true) => Extent::All,
        };
        let sentence = match extent {
            Extent::Nothing if missed.is_empty() => {
                let why = match collections.len() {
                    0 => "there are no collections",
                    _ => "the collections hold no documents",
                };
                format!("Nothing was looked at: {why}.")
            }
            Extent::Nothing => format!("Nothing was looked at: {}.", reasons(&missed)),
            Extent::Part => format!("Not all was looked at: {}.", reasons(&missed)),
            Extent::Sample => sample(read, all, share),
            Extent::All => format!("All was looked at: {}.", counted(read, "document")),
        };
        LookedAt { extent, share, sentence }
    }

    /// What a judgement holds for, to be put behind it: nothing, or of how much it is true.
    pub fn reservation(&self) -> String {
        match (self.extent, self.share) {
            (Extent::All, _) => String::new(),
            (Extent::Sample, Some(share)) => format!(" in a sample of {}", percent(share)),
            (Extent::Sample, None) => " in a sample".to_owned(),
            (Extent::Part | Extent::Nothing, _) => " in the part that was looked at".to_owned(),
        }
    }
}

impl Collection {
    /// How many documents it held, as far as that is known.
    fn held(&self) -> Option<u64> {
        if self.whole { Some(self.scanned) } else { self.documents.map(|it| it.max(self.scanned)) }
    }
}

fn sample(read: u64, all: Option<u64>, share: Option<f64>) -> String {
    match (all, share) {
        (Some(all), Some(share)) => format!(
            "A sample was looked at: {} of {} ({}).",
            count(read),
            counted(all, "document"),
            percent(share)
        ),
        _ => format!("A sample was looked at: {}.", counted(read, "document")),
    }
}

fn counted(number: u64, noun: &str) -> String {
    crate::figures::counted(number, noun)
}

fn reasons(missed: &[&Note]) -> String {
    let reason = |note: &&&Note| match &note.namespace {
        Some(namespace) => format!("{namespace}: {}", note.note.trim_end_matches('.')),
        None => note.note.trim_end_matches('.').to_owned(),
    };
    let mut reasons: Vec<String> = missed.iter().take(REASONS_MAX).map(|it| reason(&it)).collect();
    if missed.len() > REASONS_MAX {
        reasons.push(format!("and {} more (see the notes)", missed.len() - REASONS_MAX));
    }
    reasons.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection(documents: Option<u64>, scanned: u64, whole: bool) -> Collection {
        Collection {
            namespace: "shop.users".to_owned(),
            kind: "collection".to_owned(),
            documents,
            scanned,
            whole,
            indexes: 1,
            sizes: None,
            arrays: Vec::new(),
        }
    }

    fn missed(note: &str) -> Note {
        Note { namespace: None, note: note.to_owned(), missed: true }
    }

    #[test]
    fn a_sample_says_of_how_much() {
        let seen = LookedAt::new(&[collection(Some(20_000), 1_000, false)], &[]);
        assert_eq!(seen.extent, Extent::Sample);
        assert_eq!(seen.sentence, "A sample was looked at: 1,000 of 20,000 documents (5.0 %).");
        assert_eq!(seen.reservation(), " in a sample of 5.0 %");
        let unknown = LookedAt::new(&[collection(None, 1_000, false)], &[]);
        assert_eq!((unknown.extent, unknown.share), (Extent::Sample, None));
        let whole = LookedAt::new(&[collection(Some(1_001), 1_000, true)], &[]);
        assert_eq!((whole.extent, whole.share), (Extent::All, Some(1.0)));
    }

    #[test]
    fn what_was_missed_comes_first() {
        let seen = LookedAt::new(&[], &[]);
        assert_eq!(seen.share, None);
        assert_eq!(seen.sentence, "Nothing was looked at: there are no collections.");
        let notes = ["a", "b", "c", "d", "e"].map(missed);
        let seen = LookedAt::new(&[collection(Some(5), 5, true)], &notes);
        assert_eq!(seen.extent, Extent::Part);
        assert_eq!(seen.sentence, "Not all was looked at: a; b; c; and 2 more (see the notes).");
        let seen = LookedAt::new(&[collection(Some(5), 0, false)], &notes[..1]);
        assert_eq!((seen.extent, &*seen.sentence), (Extent::Nothing, "Nothing was looked at: a."));
    }
}
