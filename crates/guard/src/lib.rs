//! Growth policies: what they say (`policy`), and the patterns that keep them
//! (`patterns`). It knows no engine: patterns work on `write::Transaction`.

pub mod adopt;
mod lease;
pub mod patterns;
pub mod policy;
pub mod provision;
pub mod read;
mod roles;
mod table;
pub mod verify;

pub use lease::Lease;
pub use policy::Policy;
pub use roles::Roles;
pub use table::{Table, policies_of};
