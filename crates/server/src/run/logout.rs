//! `logout`: nobody is logged in, so there is nothing to undo.

use super::{Call, ok};
use command::Reply;
use error::Result;

pub(super) fn run(_: &mut Call<'_>) -> Result<Reply> {
    Ok(ok())
}
