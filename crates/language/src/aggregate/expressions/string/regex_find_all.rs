//! `$regexFindAll`: every match of a pattern.

use super::regex;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Node, Parser};
use bson::{RawArrayBuf, RawBsonRef};
use error::{Code, Result};
use pcre2::bytes::Regex;
use value::ArrayWriter;

/// What the matches of one string may take.
const OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    regex::parse("$regexFindAll", parser, operand, finish)
}

fn finish(name: &'static str, found: Option<(&Regex, &str)>) -> Evaluated<'static> {
    let Some((pattern, input)) = found else { return own(RawArrayBuf::new()) };
    let mut out = ArrayWriter::new();
    // Code points are counted on from the match before.
    let (mut byte, mut index) = (0, 0);
    for captures in pattern.captures_iter(input.as_bytes()) {
        let captures = captures.map_err(|error| regex::failed(name, &error))?;
        let start = captures.get(0).map_or(0, |found| found.start());
        // An empty match at the very end of a string that is not empty is none.
        if start == input.len() && !input.is_empty() {
            break;
        }
        index += input.get(byte..start).unwrap_or_default().chars().count();
        byte = start;
        out.push(RawBsonRef::Document(&regex::document(input, &captures, index)));
        if out.bytes() > OUTPUT_BYTES_MAX {
            return Err(Code::location(51151).error(format!(
                "{name}: the size of buffer to store output exceeded the 64MB limit"
            )));
        }
    }
    own(out.finish())
}
