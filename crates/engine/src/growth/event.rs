//! What a commit reports of the documents it changes.

use crate::catalog::Collection;
use crate::storage::RecordId;
use guard::patterns::{ArrayLength, Length};
use guard::{Lease, Policy};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::sync::Arc;

/// What a commit does to one collection.
#[derive(Debug)]
pub struct Grown {
    pub collection: Arc<Collection>,
    /// What guards it, and did so while the events came about.
    pub guarded: Option<Lease>,
    /// By how much the number of documents and their bytes change.
    pub documents: i64,
    pub bytes: i64,
    /// Whether the arrays of all its documents have been measured: the parameter
    /// `growthStats` may have been off for some of them.
    pub measured: bool,
    events: Vec<GrowthEvent>,
}

/// One document becomes another.
#[derive(Debug, Clone)]
pub struct GrowthEvent {
    pub record: RecordId,
    /// How large it was and is, in bytes; `None` where it is not there.
    pub before: Option<u32>,
    pub after: Option<u32>,
    /// What reads show beside that of its pages, in bytes.
    pub paged: PagedBytes,
    /// Arrays that the policy names, as far as their lengths change.
    pub arrays: LengthenedArrays,
}

/// What a document's pages add to it where its arrays are shown whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PagedBytes {
    pub before: u64,
    pub after: u64,
}

/// In nearly every collection a policy names one array or two.
pub type LengthenedArrays = SmallVec<[Lengthened; 2]>;

/// The arrays of a document at one path become longer or shorter, come or go.
#[derive(Debug, Clone)]
pub struct Lengthened {
    /// Which array of the policy it is.
    pub rule: usize,
    pub before: Lengths,
    pub after: Lengths,
}

/// How long the arrays of a document at one path are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lengths {
    /// One but where the path goes through arrays; none if there is no array.
    pub each: SmallVec<[u32; 1]>,
    /// The pages that hold what the document does not.
    pub pages: u32,
}

impl Lengthened {
    /// Of an array that has been counted; `None` if it stays as long as it is.
    pub fn of(measured: &ArrayLength) -> Option<Lengthened> {
        let ArrayLength { rule, before, after } = *measured;
        let lengths = |length: Option<Length>| length.map(Lengths::from).unwrap_or_default();
        (before != after).then(|| Lengthened {
            rule,
            before: lengths(before),
            after: lengths(after),
        })
    }
}

impl From<Length> for Lengths {
    fn from(length: Length) -> Lengths {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Lengths { each: smallvec![number(length.elements)], pages: number(length.pages) }
    }
}

impl Grown {
    pub fn new(collection: Arc<Collection>) -> Grown {
        Grown {
            collection,
            guarded: None,
            documents: 0,
            bytes: 0,
            measured: true,
            events: Vec::new(),
        }
    }

    pub fn push(&mut self, event: GrowthEvent) {
        let there = |size: Option<u32>| i64::from(size.is_some());
        let bytes = |size: Option<u32>| i64::from(size.unwrap_or(0));
        self.documents += there(event.after) - there(event.before);
        self.bytes += bytes(event.after) - bytes(event.before);
        self.events.push(event);
    }

    /// How many documents it counts as having written.
    pub fn writes(&self) -> u64 {
        self.documents.unsigned_abs().max(1)
    }

    pub fn events(&self) -> &[GrowthEvent] {
        &self.events
    }

    /// What becomes of each document in all, by their sizes: a transaction may write one of
    /// them more than once.
    pub fn net(&self) -> Cow<'_, [GrowthEvent]> {
        if self.events.is_sorted_by(|one, next| one.record < next.record) {
            return Cow::Borrowed(&self.events);
        }
        let mut net: Vec<GrowthEvent> = Vec::with_capacity(self.events.len());
        let mut places = FxHashMap::default();
        for event in &self.events {
            let place = *places.entry(event.record).or_insert(net.len());
            match net.get_mut(place) {
                Some(known) => {
                    known.after = event.after;
                    known.paged.after = event.paged.after;
                }
                None => net.push(GrowthEvent { arrays: LengthenedArrays::new(), ..event.clone() }),
            }
        }
        Cow::Owned(net)
    }
}

impl GrowthEvent {
    /// Whether an array reaches what its policy lets it hold in the document: what the document
    /// has grown by until now says nothing of how it goes on.
    pub fn fills_an_array(&self, policy: &Policy) -> bool {
        self.arrays.iter().any(|change| {
            let Lengthened { rule, before, after } = change;
            let max = policy.arrays.get(*rule).and_then(|rule| rule.bounds.max);
            let is_full = |lengths: &Lengths| {
                let longest = lengths.each.iter().max().copied().unwrap_or(0);
                lengths.pages > 0 || max.is_some_and(|max| longest as usize >= max)
            };
            !is_full(before) && is_full(after)
        })
    }
}

/// The policy among the roles of a collection.
pub fn policy(guarded: Option<&Lease>) -> Option<&Policy> {
    guarded?.policy()
}
