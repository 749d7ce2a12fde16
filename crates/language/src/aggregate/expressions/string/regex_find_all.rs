//! `$regexFindAll`: every match of a pattern.

use super::regex;
use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Node, Parser};
use crate::interrupt;
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
    let mut written = Held::default();
    let mut locations = pattern.capture_locations();
    // Code points are counted on from the match before.
    let (mut byte, mut index, mut from) = (0, 0, 0);
    loop {
        // Each search may go to the end of the input, whatever it finds.
        interrupt::check_sized(input.len() - from)?;
        let found = pattern
            .captures_read_at(&mut locations, input.as_bytes(), from)
            .map_err(|error| regex::failed(name, &error))?;
        let Some(found) = found else { return own(out.finish()) };
        index += input.get(byte..found.start()).unwrap_or_default().chars().count();
        byte = found.start();
        let groups = |at| locations.get(at);
        let document = regex::document(input, locations.len(), groups, index);
        out.push(RawBsonRef::Document(&document));
        if out.bytes() > OUTPUT_BYTES_MAX {
            return Err(Code::location(51151).error(format!(
                "{name}: the size of buffer to store output exceeded the 64MB limit"
            )));
        }
        written.write_array(&out)?;
        // Behind an empty match the search goes on one character later.
        let skipped = input.get(found.end()..).and_then(|rest| rest.chars().next());
        from = match skipped.filter(|_| found.start() == found.end()) {
            Some(character) => found.end() + character.len_utf8(),
            None => found.end(),
        };
        if from >= input.len() {
            return own(out.finish());
        }
    }
}
