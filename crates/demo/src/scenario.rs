//! One row of the table of scenarios.

use crate::{Collection, Recipe};

pub struct Scenario {
    pub name: &'static str,
    /// What it is, in one sentence.
    pub help: &'static str,
    pub(crate) collections: fn(&Recipe) -> Vec<Collection>,
}

impl Scenario {
    /// What it is made of; no document is made before it is asked for.
    pub fn collections(&self, recipe: &Recipe) -> Vec<Collection> {
        (self.collections)(recipe)
    }
}
