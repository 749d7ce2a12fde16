//! Regular expressions: PCRE2 with MongoDB's options, and a bound on the work
//! that one match may take.

use crate::interrupt;
use error::{Code, Result};
use pcre2::bytes::{Regex, RegexBuilder};

/// How often the matcher may be called for one match before it gives up with an
/// error, so that no pattern can hang the server.
const MATCH_CALLS_MAX: u32 = 1_000_000;

/// The longest pattern that is compiled, as in MongoDB.
const PATTERN_BYTES_MAX: usize = 32_764;

/// A pattern that is longer than this once its repetitions are written out is matched without
/// machine code, which would take many times as much.
const MACHINE_CODE_LENGTH_MAX: usize = 8 * 1024;

/// What a compiled pattern takes at the least, with what it is matched by.
const COMPILED_BYTES: usize = 3 * 1024;

/// What machine code takes for each character, and the most that a pattern takes without.
const MACHINE_CODE_TIMES: usize = 24;
const CODE_BYTES_MAX: usize = 64 * 1024;

/// Compiling even a short pattern takes as long as work on this many bytes.
const COMPILED_BYTES_MIN: usize = 16 * 1024;

/// Classes such as `\w` and `[:alpha:]` are about ASCII, as in MongoDB, though the pattern is
/// compiled with Unicode properties.
const ASCII_CLASSES: &str = "(?a)";

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
    interrupt::check_sized(pattern.len() + COMPILED_BYTES_MIN)?;
    let mut builder = RegexBuilder::new();
    builder.utf(true).jit_if_available(length(pattern) <= MACHINE_CODE_LENGTH_MAX);
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
    if let Some(regex) = compile_unchecked(&builder, &limit, pattern) {
        return Ok(regex);
    }
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

/// What a pattern takes once it is compiled, at the most.
pub fn compiled_bytes(pattern: &str) -> usize {
    let code = match length(pattern) {
        length if length <= MACHINE_CODE_LENGTH_MAX => MACHINE_CODE_TIMES * length,
        _ => CODE_BYTES_MAX,
    };
    COMPILED_BYTES + code
}

/// How long a pattern is with its repetitions written out, at the most: `(a{9}){9}` is short
/// and compiled to much.
fn length(pattern: &str) -> usize {
    let counts = pattern.split('{').skip(1).filter_map(|behind| {
        let (counts, _) = behind.split_once('}')?;
        counts.rsplit(',').chain(counts.split(',')).find_map(|count| count.parse::<usize>().ok())
    });
    counts.fold(pattern.len(), |length, count| length.saturating_mul(count.max(1)))
}

/// The pattern compiled so that a match does not begin with a check of the whole text, which
/// is valid UTF-8 already: a search for all matches would check it once for each of them.
/// PCRE2 leaves the check out where text may be invalid, which the builder only allows
/// together with Unicode properties; those are restricted to what they are without them.
/// `None` where the pattern has settings of its own that this could alter, or does not
/// compile.
fn compile_unchecked(builder: &RegexBuilder, limit: &str, pattern: &str) -> Option<Regex> {
    if sets_ascii(pattern) {
        return None;
    }
    let (settings, rest) = split_settings(pattern);
    let classes = if settings.contains("(*UCP)") { "" } else { ASCII_CLASSES };
    builder.clone().ucp(true).build(&format!("{limit}{settings}{classes}{rest}")).ok()
}

/// The settings that a pattern begins with, such as `(*UCP)`, and what comes behind them. They
/// must stand before anything else.
fn split_settings(pattern: &str) -> (&str, &str) {
    let mut end = 0;
    while let Some(rest) = pattern.get(end..).and_then(|rest| rest.strip_prefix("(*")) {
        let is_name = |c: char| matches!(c, 'A'..='Z' | '0'..='9' | '_' | '=');
        let name = rest.len() - rest.trim_start_matches(is_name).len();
        if !rest.get(name..).is_some_and(|rest| rest.starts_with(')')) {
            break;
        }
        end += "(*".len() + name + ")".len();
    }
    pattern.split_at(end)
}

/// Whether the pattern may have an option such as `(?-a)`.
fn sets_ascii(pattern: &str) -> bool {
    let is_option = |c: &char| c.is_ascii_alphabetic() || matches!(c, '^' | '-');
    pattern.match_indices("(?").any(|(at, opening)| {
        let options = pattern.get(at + opening.len()..).unwrap_or_default().chars();
        options.take_while(is_option).any(|option| option == 'a')
    })
}

/// Whether the pattern matches somewhere in the text.
pub fn is_match(regex: &Regex, text: &str) -> Result<bool> {
    interrupt::check_sized(text.len())?;
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
    fn classes_are_about_ascii_and_letters_are_not() {
        let matches = |pattern: &str, text: &str| {
            is_match(&compile(pattern, "i", "$regex").unwrap(), text).unwrap()
        };
        for class in [r"^\w$", r"^[[:alpha:]]$", r"^[\w]$", r"^(?^i)\w$", r"^(?-i:\w)$"] {
            assert!(matches(class, "e") && !matches(class, "é"), "{class}");
        }
        assert!(!matches(r"^\d$", "\u{0663}") && !matches(r"^\s$", "\u{2003}"));
        assert!(!matches(r"é\b", "É") && matches(r"\bx", "éx"));
        assert!(matches("É", "é") && matches(r"^\p{L}$", "é") && matches("^.$", "é"));
        // Settings of its own are honoured.
        assert!(matches(r"(*UCP)^\w$", "é") && matches(r"^\Ca", "xa"));
        assert!(!matches(r"(*NO_JIT)^\w$", "é") && matches(r"(*NO_JIT)(*UCP)^\w$", "é"));
        assert!(!matches(r"(*FAIL)x", "x") && matches(r"(*atomic:x)", "x"));
        assert!(!matches(r"(?-a)^\w$", "é"));
    }

    #[test]
    fn a_search_for_all_matches_does_not_check_the_text_for_each() {
        let text = "é".repeat(200_000);
        for pattern in ["é", "(*UCP)é"] {
            let regex = compile(pattern, "", "$regex").unwrap();
            let begun = std::time::Instant::now();
            let found = regex.find_iter(text.as_bytes()).map(|found| found.unwrap().end()).max();
            assert_eq!(found, Some(text.len()));
            assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
        }
    }

    #[test]
    fn repetitions_count_as_written_out() {
        assert_eq!(length("abc"), 3);
        assert_eq!(length("a{3}b{2,4}c{5,}"), 15 * 3 * 4 * 5);
        assert_eq!(length("a{x}"), 4);
        assert_eq!(length(&"a{9999}".repeat(9)), usize::MAX);
        assert!(compiled_bytes("(?:(?:a{99}){99}){9}") < 100 * 1024);
        assert!(is_match(&compile("^(?:(?:a{9}){99}){9}$", "", "$regex").unwrap(), "a").is_ok());
    }

    #[test]
    fn a_bomb_gives_an_error_instead_of_hanging() {
        let bomb = compile("(a+)+$", "", "$regex").unwrap();
        let text = format!("{}b", "a".repeat(100));
        assert_eq!(is_match(&bomb, &text).unwrap_err().code().number(), 51156);
    }
}
