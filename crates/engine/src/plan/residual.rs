//! The part of a filter that a plan still has to check.

use super::bounds::{Conjunct, NodePlace};
use bson::RawDocument;
use error::Result;
use language::Needs;
use language::query::{Filter, Node};
use std::sync::Arc;

#[derive(Debug)]
pub struct Residual {
    filter: Arc<Filter>,
    places: Vec<NodePlace>,
    /// What these parts of the filter look at.
    pub needs: Needs,
}

impl Residual {
    /// All of some conjuncts; `None` if there are none.
    pub fn of<'f>(
        filter: &Arc<Filter>,
        conjuncts: impl IntoIterator<Item = &'f Conjunct<'f>>,
    ) -> Option<Arc<Residual>> {
        let mut needs = Needs::none();
        let mut places = Vec::new();
        for conjunct in conjuncts {
            conjunct.node.needs(&mut needs);
            places.push(conjunct.place.clone());
        }
        if places.is_empty() {
            return None;
        }
        Some(Arc::new(Residual { filter: Arc::clone(filter), places, needs }))
    }

    /// Whether it shares this very filter.
    #[cfg(test)]
    pub fn is_part_of(&self, filter: &Arc<Filter>) -> bool {
        Arc::ptr_eq(&self.filter, filter)
    }

    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.places.iter().map(|place| place.find(&self.filter.root))
    }

    pub fn matches(&self, document: &RawDocument) -> Result<bool> {
        self.filter.matches_parts(self.nodes(), document)
    }
}
