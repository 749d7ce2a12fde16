//! `$match`: documents that match a filter.

use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::query::{Filter, Node};
use bson::RawBsonRef;
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Path;

#[derive(Debug)]
pub struct Match {
    pub filter: Arc<Filter>,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(filter) = stage.value else {
        return Err(
            Code::location(15959).error("the match filter must be an expression in an object")
        );
    };
    one(Match::new(Filter::parse(filter, stage.context)?))
}

impl Match {
    pub fn new(filter: Filter) -> Match {
        Match { filter: Arc::new(filter) }
    }

    /// Takes out those of its conditions that may go elsewhere, unless that is all
    /// of them or none.
    pub fn split(&mut self, goes: impl Fn(&Node) -> bool) -> Option<Match> {
        let filter = Arc::get_mut(&mut self.filter)?;
        let Node::And(nodes) = &mut filter.root else { return None };
        let going = nodes.iter().filter(|node| goes(node)).count();
        if going == 0 || going == nodes.len() {
            return None;
        }
        let (taken, left) = std::mem::take(nodes).into_iter().partition(|node| goes(node));
        filter.root = Node::And(left);
        Some(Match::new(Filter { root: Node::And(taken), collator: filter.collator.clone() }))
    }

    /// Asks the same of documents in which fields stand elsewhere; false if that cannot be told.
    pub fn rename(&mut self, source_of: impl Fn(&Path) -> Option<Path>) -> bool {
        let Some(filter) = Arc::get_mut(&mut self.filter) else { return false };
        match filter.root.renamed(&source_of) {
            Some(root) => {
                filter.root = root;
                true
            }
            None => false,
        }
    }

    /// One of its own that asks the same.
    pub fn copied(&self) -> Match {
        let Filter { root, collator } = &*self.filter;
        Match::new(Filter { root: root.clone(), collator: collator.clone() })
    }

    /// Also asks for what another asks for, if neither is shared yet.
    pub fn and(&mut self, other: Match) -> std::result::Result<(), Match> {
        let Some(filter) = Arc::get_mut(&mut self.filter) else { return Err(other) };
        let other = Arc::try_unwrap(other.filter).map_err(|filter| Match { filter })?;
        let first = std::mem::replace(&mut filter.root, Node::True);
        filter.root = Node::And(vec![first, other.root]);
        Ok(())
    }
}

impl Stage for Match {
    fn name(&self) -> &'static str {
        "$match"
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(input.filter_map(move |document| match document {
            Ok(document) => match self.filter.matches(&document) {
                Ok(true) => Some(Ok(document)),
                Ok(false) => None,
                Err(error) => Some(Err(error)),
            },
            Err(error) => Some(Err(error)),
        })))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.filter.needs(needs);
        ControlFlow::Continue(())
    }
}
