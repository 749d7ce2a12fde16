//! Canonical extended JSON (version 2): every BSON type as text, and back to the
//! same bytes. Reading also takes the relaxed forms: plain numbers, dates as text.

mod json;
mod read;
mod write;

pub use read::read;
pub use write::write;

#[cfg(test)]
mod tests;
