//! `$regex`

use super::{Argument, FieldOperator};
use crate::query::Predicate;
use crate::regex;
use bson::RawBsonRef;
use error::{Code, Result};
use value::{Element, elements};

pub const ROW: FieldOperator =
    FieldOperator { name: "$regex", help: "Text that the pattern matches.", parse };

/// A pattern, compiled.
#[derive(Debug, Clone)]
pub struct Regex {
    pub pattern: String,
    pub options: String,
    /// What every match begins with, if the pattern is anchored and
    /// case-sensitive; the planner turns it into a range.
    pub prefix: Option<String>,
    compiled: pcre2::bytes::Regex,
}

impl Regex {
    pub fn new(pattern: &str, options: &str) -> Result<Regex> {
        if options.contains('\0') {
            let message = "Regular expression options string cannot contain an embedded null byte";
            return Err(Code::BadValue.error(message));
        }
        Ok(Regex {
            compiled: regex::compile(pattern, options, "$regex")?,
            prefix: prefix(pattern, options),
            pattern: pattern.into(),
            options: options.into(),
        })
    }

    /// Text that matches, or the same regular expression as a value.
    pub fn matches(&self, element: Element<'_>) -> Result<bool> {
        match element.value() {
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) => {
                regex::is_match(&self.compiled, text)
            }
            RawBsonRef::RegularExpression(regex) => {
                Ok(regex.pattern.as_str() == self.pattern && regex.options.as_str() == self.options)
            }
            _ => Ok(false),
        }
    }
}

/// The literal text behind `^`, as far as it is certain.
fn prefix(pattern: &str, options: &str) -> Option<String> {
    let rest = pattern.strip_prefix('^').or_else(|| pattern.strip_prefix("\\A"))?;
    // Other options change what the anchor or the letters mean, and any bar may
    // be an alternative to the anchored part.
    if options.chars().any(|option| !matches!(option, 's' | 'u')) || pattern.contains('|') {
        return None;
    }
    let mut prefix = String::new();
    let mut chars = rest.chars();
    while let Some(next) = chars.next() {
        match next {
            // The character in front may be absent.
            '?' | '*' | '{' => {
                prefix.pop();
                break;
            }
            '.' | '[' | '(' | ')' | '+' | '$' | '^' => break,
            '\\' => match chars.next() {
                Some(escaped) if escaped.is_ascii_punctuation() => prefix.push(escaped),
                _ => break,
            },
            literal => prefix.push(literal),
        }
    }
    (!prefix.is_empty()).then_some(prefix)
}

/// Pattern and options may come in either order, the pattern as text or as a
/// regular expression with options of its own.
fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    let mut pattern = String::new();
    let mut options = String::new();
    let twice = |code| Err(Code::location(code).error("options set in both $regex and $options"));
    for element in elements(argument.siblings) {
        match (element.key, element.value()) {
            ("$regex", RawBsonRef::String(text)) => pattern = text.into(),
            ("$regex", RawBsonRef::RegularExpression(regex)) => {
                pattern = regex.pattern.as_str().into();
                if !regex.options.is_empty() {
                    if !options.is_empty() {
                        return twice(51074);
                    }
                    options = regex.options.as_str().into();
                }
            }
            ("$regex", _) => return Err(Code::BadValue.error("$regex has to be a string")),
            ("$options", RawBsonRef::String(text)) => {
                if !options.is_empty() {
                    return twice(51075);
                }
                options = text.into();
            }
            ("$options", _) => return Err(Code::BadValue.error("$options has to be a string")),
            _ => {}
        }
    }
    Ok(Predicate::Regex(Regex::new(&pattern, &options)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_only_what_is_certain() {
        let prefix = |pattern, options| prefix(pattern, options);
        assert_eq!(prefix("^abc", "").as_deref(), Some("abc"));
        assert_eq!(prefix("^abc.*d", "").as_deref(), Some("abc"));
        assert_eq!(prefix("^abc*", "").as_deref(), Some("ab"));
        assert_eq!(prefix("^abc+", "").as_deref(), Some("abc"));
        assert_eq!(prefix("^a\\.b", "").as_deref(), Some("a.b"));
        assert_eq!(prefix("\\Aab$", "s").as_deref(), Some("ab"));
        assert_eq!(prefix("^a\\d", "").as_deref(), Some("a"));
        for (pattern, options) in
            [("abc", ""), ("^abc", "i"), ("^a", "m"), ("^a b", "x"), ("^a|b", ""), ("^(a)", "")]
        {
            assert_eq!(prefix(pattern, options), None, "{pattern} {options}");
        }
    }
}
