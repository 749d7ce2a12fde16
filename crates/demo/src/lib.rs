//! Made-up data for tests and demonstrations, with the faults that real data has.
//!
//! A scenario ([`SCENARIOS`]) is a team's database as it looks after some years: a feed
//! with a few users who never stop, a shop whose products carry all their reviews, a
//! collection for each tenant. A [`Recipe`] says how much of it there is. Every document
//! is made from the recipe, its collection's name and its number alone, so that the same
//! recipe gives the same bytes on every machine, and any document can be made without
//! those before it.
//!
//! Nothing here does IO or looks at the clock; `jobs::Demo` loads a scenario into a
//! server.

mod collection;
mod dates;
mod hour;
mod ids;
mod random;
mod recipe;
mod scenario;
mod scenarios;
mod words;

pub use collection::{Collection, SHARD_KEY_INDEX};
pub use random::Random;
pub use recipe::{NOW_DEFAULT, Recipe, SEED_DEFAULT, SIZE_DEFAULT, SIZE_MAX, SIZE_MIN};
pub use scenario::Scenario;
pub use scenarios::{SCENARIOS, scenario};
