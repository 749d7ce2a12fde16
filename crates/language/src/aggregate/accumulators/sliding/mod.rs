//! Accumulators over windows that move on: what enters last and what leaves first, so that
//! a step costs what has changed and not the whole window.

mod deviation;
mod ends;
mod entered;
mod list;
mod ordered;
mod quantiles;
mod removable;
mod set;
mod total;

pub use deviation::Deviation;
pub use ends::{End, Ends};
pub use list::List;
pub use ordered::{Ordered, Pick};
pub use quantiles::Quantiles;
pub use removable::Removable;
pub use set::Set;
pub use total::Total;

use super::size_of_value;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;

/// The state of an accumulator over a window that moves on.
pub trait Slide: Send {
    /// Takes in the value of the document that enters; `None` is missing.
    fn add(&mut self, value: Option<RawBson>, root: &RawDocument) -> Result<()>;

    /// Lets the oldest document go.
    fn remove(&mut self);

    /// The value of the window; `None` is missing.
    fn value(&self) -> Result<Option<RawBson>>;

    /// The memory of what it keeps beside its own size.
    fn bytes(&self) -> usize;
}

/// Makes the state for a new partition. The value is what the initializer gave.
pub type StartSlide = Box<dyn Fn(Option<RawBsonRef<'_>>) -> Result<Box<dyn Slide>> + Send + Sync>;

fn size(value: &RawBson) -> usize {
    size_of_value(value.as_raw_bson_ref())
}
