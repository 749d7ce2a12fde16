//! Regular expressions: PCRE2 with MongoDB's options, and a bound on the work
//! that one match may take.

use error::{Code, Result};
use pcre2::bytes::{Regex, RegexBuilder};

/// How often the matcher may be called for one match before it gives up with an
/// error, so that no pattern can hang the server.
const MATCH_CALLS_MAX: u32 = 1_000_000;

/// The longest pattern that is compiled, as in MongoDB.
const PATTERN_BYTES_MAX: usize = 32_764;

/// Compiles a pattern. `operator` is named in the error for an unknown option.
pub fn compile(pattern: &str, options: &str, operator: &str) -> Result<Regex> {
    if pattern.contains('\0') {
        let message = "Regular expression cannot contain an embedded null byte";
        return Err(Code::BadValue.error(message));
    }
    if pattern.len() > PATTERN_BYTES_MAX {
        let message = "Regular expression is invalid: regular expression is too large";
        return Err(Code::location(51091).error(message));
    }
    let mut builder = RegexBuilder::new();
    builder.utf(true).jit_if_available(true);
    for option in options.chars() {
        match option {
            'i' => builder.caseless(true),
            'm' => builder.multi_line(true),
            's' => builder.dotall(true),
            'x' => builder.extended(true),
            // Patterns are always taken as UTF-8.
            'u' => &mut builder,
            _ => {
                let message = format!("{operator} invalid flag in regex options: {option}");
                return Err(Code::location(51108).error(message));
            }
        };
    }
    let limit = format!("(*LIMIT_MATCH={MATCH_CALLS_MAX})");
    builder.build(&format!("{limit}{pattern}")).map_err(|error| {
        // The offset is told in the client's pattern, which knows no limit.
        let told =
            error.offset().map(|at| (format!("offset {at}"), at.saturating_sub(limit.len())));
        let words = match told {
            Some((at, offset)) => error.to_string().replace(&at, &format!("offset {offset}")),
            None => error.to_string(),
        };
        Code::location(51091).error(format!("Regular expression is invalid: {words}"))
    })
}

/// Whether the pattern matches somewhere in the text.
pub fn is_match(regex: &Regex, text: &str) -> Result<bool> {
    regex.is_match(text.as_bytes()).map_err(|error| execution_error(&error))
}

/// The error of a match that was given up.
pub fn execution_error(error: &pcre2::Error) -> error::Error {
    let message = "Error occurred while executing the regular expression";
    Code::location(51156).error(format!("{message}. Result code: {} ({error})", error.code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_errors() {
        assert!(is_match(&compile("^ab", "i", "$regex").unwrap(), "xAB").is_ok_and(|found| !found));
        assert!(is_match(&compile("^ab", "i", "$regex").unwrap(), "ABC").unwrap());
        assert!(is_match(&compile("^b", "m", "$regex").unwrap(), "a\nb").unwrap());
        assert!(is_match(&compile("a.b", "s", "$regex").unwrap(), "a\nb").unwrap());
        let code =
            |pattern, options| compile(pattern, options, "$regex").unwrap_err().code().number();
        assert_eq!(code("a", "z"), 51108);
        assert_eq!(code("(", ""), 51091);
        assert_eq!(code("a\0b", ""), 2);
    }

    #[test]
    fn a_bomb_gives_an_error_instead_of_hanging() {
        let bomb = compile("(a+)+$", "", "$regex").unwrap();
        let text = format!("{}b", "a".repeat(100));
        assert_eq!(is_match(&bomb, &text).unwrap_err().code().number(), 51156);
    }
}
