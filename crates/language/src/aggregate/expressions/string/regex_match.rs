//! `$regexMatch`: whether a pattern matches.

use super::regex;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Node, Parser};
use bson::RawBsonRef;
use error::Result;
use pcre2::bytes::Regex;

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    regex::parse("$regexMatch", parser, operand, finish)
}

fn finish(name: &'static str, found: Option<(&Regex, &str)>) -> Evaluated<'static> {
    match found {
        None => own(false),
        Some((pattern, input)) => match pattern.is_match(input.as_bytes()) {
            Ok(matches) => own(matches),
            Err(error) => Err(regex::failed(name, &error)),
        },
    }
}
