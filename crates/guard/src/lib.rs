//! Growth policies: what they say (`policy`), and the patterns that keep them
//! (`patterns`), how documents that are older than them are brought under them (`adopt`,
//! `migrate`) and freed of them again (`restore`), and whether all is as they say (`verify`). It knows no engine: everything works
//! on `write::Backend`.

pub mod adopt;
mod lease;
pub mod migrate;
pub mod patterns;
pub mod policy;
pub mod provision;
pub mod read;
pub mod restore;
mod roles;
pub mod survey;
mod table;
pub mod verify;

pub use lease::Lease;
pub use policy::Policy;
pub use roles::Roles;
pub use table::{LEAVING, Table, policies_of};
