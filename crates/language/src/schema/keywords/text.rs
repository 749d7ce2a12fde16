//! `title` and `description`, which explain and demand nothing.

use super::{Given, Keyword, Parsed};
use error::Result;

pub const TITLE: Keyword = Keyword { name: "title", help: "A name for the schema.", parse };
pub const DESCRIPTION: Keyword =
    Keyword { name: "description", help: "What the schema is for.", parse };

fn parse(_: &Given<'_>) -> Result<Parsed> {
    Ok(None)
}
