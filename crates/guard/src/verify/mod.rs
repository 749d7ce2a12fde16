//! What documents and pages say of themselves, compared with what is there.
//!
//! Whoever keeps them walks them; this tells what is wrong.

mod drift;
mod sequence;
mod shown;

pub use drift::{Drift, Kind, Remedy};
pub use sequence::Sequence;
pub use shown::{append_id, shown_id};
