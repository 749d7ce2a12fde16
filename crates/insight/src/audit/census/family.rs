//! A family of keys: they stand under one document and look alike.

use super::key::KeyClass;
use super::tree::NodeId;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// Keys of a family that are told apart; beyond it there are "at least so many".
const KEYS_MAX: usize = 10_000;
const EXAMPLES_MAX: usize = 5;
/// So many keys of a family have nodes of their own; the others share one.
const LITERALS_MAX: usize = 16;

#[derive(Debug)]
pub struct Family {
    /// The document that the keys are in.
    pub parent: NodeId,
    pub class: KeyClass,
    /// `user_<number>`.
    pub template: String,
    /// The node that the keys share once there are many.
    pub shared: Option<NodeId>,
    /// Hashes of the keys.
    keys: FxHashSet<u64>,
    pub examples: Vec<String>,
    /// How many documents have such keys,
    pub documents: u64,
    /// and how many of them one document has at most.
    pub in_document_max: u64,
    in_document: u64,
    last_document: u64,
}

impl Family {
    pub fn new(parent: NodeId, class: KeyClass, template: String) -> Family {
        Family {
            parent,
            class,
            template,
            shared: None,
            keys: FxHashSet::default(),
            examples: Vec::new(),
            documents: 0,
            in_document_max: 0,
            in_document: 0,
            last_document: 0,
        }
    }

    /// Takes a key in, if there is room for one more; whether it is still one of few.
    pub fn add(&mut self, key: &str, room: bool) -> bool {
        if room && self.keys.len() < KEYS_MAX {
            let mut hasher = FxHasher::default();
            key.hash(&mut hasher);
            if self.keys.insert(hasher.finish()) && self.examples.len() < EXAMPLES_MAX {
                self.examples.push(key.to_owned());
            }
        }
        room && self.keys.len() <= LITERALS_MAX
    }

    /// Counts a key of the family in a document.
    #[inline]
    pub fn seen(&mut self, document: u64) {
        if self.last_document != document {
            self.last_document = document;
            self.documents += 1;
            self.in_document = 0;
        }
        self.in_document += 1;
        self.in_document_max = self.in_document_max.max(self.in_document);
    }

    /// How many different keys there are, at least.
    pub fn distinct(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Whether there may be more than `distinct` says.
    pub fn is_cut(&self) -> bool {
        self.keys.len() >= KEYS_MAX
    }
}
