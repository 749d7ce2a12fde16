//! `ping`: the server is there.

use super::{Call, ok};
use command::Reply;
use error::Result;

pub(super) fn run(_: &mut Call<'_>) -> Result<Reply> {
    Ok(ok())
}
