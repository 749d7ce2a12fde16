//! `$regexFind`: the first match of a pattern, null for none.

use super::regex;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Evaluated, Node, Parser};
use bson::RawBsonRef;
use error::Result;
use pcre2::bytes::Regex;

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    regex::parse("$regexFind", parser, operand, finish)
}

fn finish(name: &'static str, found: Option<(&Regex, &str)>) -> Evaluated<'static> {
    let Some((pattern, input)) = found else { return null() };
    match pattern.captures(input.as_bytes()) {
        Ok(None) => null(),
        Ok(Some(captures)) => {
            let start = captures.get(0).map_or(0, |found| found.start());
            let index = input.get(..start).unwrap_or_default().chars().count();
            let groups = |at| captures.get(at).map(|found| (found.start(), found.end()));
            own(regex::document(input, captures.len(), groups, index))
        }
        Err(error) => Err(regex::failed(name, &error)),
    }
}
