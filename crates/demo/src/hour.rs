//! What an application asks in an hour.

use crate::{Random, Recipe};
use bson::Document;

/// Commands of one kind, each with other values.
pub fn commands(
    recipe: &Recipe,
    kind: &str,
    times: u64,
    command: impl Fn(&mut Random) -> Document,
) -> Vec<Document> {
    (0..times).map(|number| command(&mut Random::new(recipe.seed, kind, number))).collect()
}
