//! One row of the table of scenarios.

use crate::{Collection, Recipe};
use bson::Document;

pub struct Scenario {
    pub name: &'static str,
    /// What it is, in one sentence.
    pub help: &'static str,
    pub(crate) collections: fn(&Recipe) -> Vec<Collection>,
    pub(crate) queries: fn(&Recipe) -> Vec<Document>,
}

impl Scenario {
    /// What it is made of; no document is made before it is asked for.
    pub fn collections(&self, recipe: &Recipe) -> Vec<Collection> {
        (self.collections)(recipe)
    }

    /// What its application asks in an hour: commands, those of one kind one after another.
    pub fn queries(&self, recipe: &Recipe) -> Vec<Document> {
        (self.queries)(recipe)
    }
}
