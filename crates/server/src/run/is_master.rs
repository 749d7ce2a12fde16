//! `isMaster`, `ismaster`: `hello` as it was called before.

use super::{Call, hello};
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    hello::answer(call, "ismaster")
}
