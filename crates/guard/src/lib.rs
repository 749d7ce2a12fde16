//! Growth policies: what they say (`policy`), and the patterns that keep them
//! (`patterns`). It knows no engine: patterns work on `write::Transaction`.

pub mod adopt;
pub(crate) mod guarded;
mod lease;
pub mod patterns;
pub mod policy;
pub mod read;
mod table;
pub mod verify;

pub use guarded::Guarded;
pub use lease::Lease;
pub use policy::Policy;
pub use table::{Table, policies_of};
