//! The options of a `collation` document.

use super::locales::{COMMON_ORDER, language_tag};
use crate::{DocumentWriter, Element, Number, elements};
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, MaxVariable, Strength};
use icu_collator::preferences::{CollationCaseFirst, CollationNumericOrdering};
use icu_collator::{CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;

/// The version of the collation rules that MongoDB names, and clients send back.
const VERSION: &str = "57.1";

/// What was given; the rest is up to the locale.
#[derive(Debug, Default)]
pub struct Options {
    locale: String,
    strength: Option<i64>,
    case_level: bool,
    case_first: Option<CollationCaseFirst>,
    numeric: bool,
    alternate: Option<AlternateHandling>,
    max_variable: Option<MaxVariable>,
    /// Text is always normalised; MongoDB's option only says whether that may be
    /// skipped for speed.
    normalization: bool,
    backwards: Option<bool>,
}

impl Options {
    /// `None` is simple binary comparison.
    pub fn parse(spec: &RawDocument) -> Result<Option<Options>> {
        let mut options = Options::default();
        let mut locale = None;
        let mut count = 0;
        for element in elements(spec) {
            count += 1;
            match element.key {
                "locale" => locale = Some(text(element)?),
                "strength" => options.strength = Some(strength(element)?),
                "caseLevel" => options.case_level = boolean(element)?,
                "caseFirst" => options.case_first = Some(case_first(element)?),
                "numericOrdering" => options.numeric = boolean(element)?,
                "alternate" => options.alternate = Some(alternate(element)?),
                "maxVariable" => options.max_variable = Some(max_variable(element)?),
                "normalization" => options.normalization = boolean(element)?,
                "backwards" => options.backwards = Some(boolean(element)?),
                "version" => version(element)?,
                name => {
                    let message = format!("BSON field 'collation.{name}' is an unknown field.");
                    return Err(Code::IDLUnknownField.error(message));
                }
            }
        }
        match locale {
            None if count == 0 => Ok(None),
            None => {
                let message = "BSON field 'collation.locale' is missing but a required field";
                Err(Code::IDLFailedToParse.error(message))
            }
            Some("simple") if count == 1 => Ok(None),
            Some("simple") => Err(Code::BadValue.error(
                "If 'locale' is 'simple', no other fields should be present in the collation",
            )),
            Some(locale) => {
                options.locale = locale.into();
                options.check()?;
                Ok(Some(options))
            }
        }
    }

    fn check(&self) -> Result<()> {
        if self.backwards == Some(true) && self.strength == Some(1) {
            return Err(Code::BadValue.error("'backwards' is invalid with 'strength' of 1"));
        }
        let by_case = !matches!(self.case_first, None | Some(CollationCaseFirst::False));
        if by_case && !self.case_level && self.strength.is_some_and(|strength| strength < 3) {
            return Err(Code::BadValue.error(
                "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2",
            ));
        }
        Ok(())
    }

    /// The collator, and the document that spells out all of its options.
    pub fn build(&self) -> Result<(CollatorBorrowed<'static>, RawDocumentBuf)> {
        let locale: Locale = self.tag()?.parse().map_err(|_| self.bad_locale())?;
        let mut preferences = CollatorPreferences::from(&locale);
        preferences.case_first = self.case_first;
        if self.numeric {
            preferences.numeric_ordering = Some(CollationNumericOrdering::True);
        }
        let mut options = CollatorOptions::default();
        options.strength = Some(match self.strength {
            Some(1) => Strength::Primary,
            Some(2) => Strength::Secondary,
            Some(4) => Strength::Quaternary,
            Some(5) => Strength::Identical,
            _ => Strength::Tertiary,
        });
        options.case_level = Some(if self.case_level { CaseLevel::On } else { CaseLevel::Off });
        options.alternate_handling = self.alternate;
        options.max_variable = self.max_variable;
        let collator = CollatorBorrowed::try_new(preferences, options)
            .map_err(|error| Code::BadValue.error(format!("no such collation: {error}")))?;
        let document = self.document(&collator);
        Ok((collator, document))
    }

    /// Accents compare backwards in Canadian French, and in any locale that has
    /// the common order otherwise, if asked.
    fn tag(&self) -> Result<String> {
        let tag = language_tag(&self.locale).ok_or_else(|| self.bad_locale())?;
        let by_locale = self.locale == "fr_CA";
        match self.backwards {
            None => Ok(tag),
            Some(backwards) if backwards == by_locale => Ok(tag),
            Some(backwards) if COMMON_ORDER.contains(&self.locale.as_str()) => {
                Ok(if backwards { "fr-CA".into() } else { "fr".into() })
            }
            Some(_) => Err(Code::BadValue.error(format!(
                "'backwards: true' is not supported for the locale '{}'",
                self.locale
            ))),
        }
    }

    fn bad_locale(&self) -> Error {
        let locale = &self.locale;
        Code::BadValue.error(format!("Field 'locale' is invalid in: {{ locale: \"{locale}\" }}"))
    }

    fn document(&self, collator: &CollatorBorrowed<'_>) -> RawDocumentBuf {
        let resolved = collator.resolved_options();
        let mut out = DocumentWriter::new();
        out.append_str("locale", &self.locale);
        out.append_bool("caseLevel", self.case_level);
        out.append_str(
            "caseFirst",
            match resolved.case_first {
                CollationCaseFirst::Upper => "upper",
                CollationCaseFirst::Lower => "lower",
                _ => "off",
            },
        );
        out.append_i32("strength", self.strength.unwrap_or(3) as i32);
        out.append_bool("numericOrdering", self.numeric);
        out.append_str(
            "alternate",
            match resolved.alternate_handling {
                AlternateHandling::Shifted => "shifted",
                _ => "non-ignorable",
            },
        );
        out.append_str(
            "maxVariable",
            match resolved.max_variable {
                MaxVariable::Space => "space",
                _ => "punct",
            },
        );
        out.append_bool("normalization", self.normalization);
        out.append_bool("backwards", self.backwards.unwrap_or(self.locale == "fr_CA"));
        out.append_str("version", VERSION);
        out.finish()
    }
}

fn wrong_type(element: Element<'_>, expected: &str) -> Error {
    let name = element.key;
    let message =
        format!("BSON field 'collation.{name}' is the wrong type, expected type '{expected}'");
    Code::TypeMismatch.error(message)
}

fn text(element: Element<'_>) -> Result<&str> {
    match element.value() {
        RawBsonRef::String(text) => Ok(text),
        _ => Err(wrong_type(element, "string")),
    }
}

fn boolean(element: Element<'_>) -> Result<bool> {
    match element.kind {
        ElementType::Boolean => Ok(element.value() == RawBsonRef::Boolean(true)),
        _ => Err(wrong_type(element, "bool")),
    }
}

fn strength(element: Element<'_>) -> Result<i64> {
    let number = Number::from_value(element.value()).ok_or_else(|| wrong_type(element, "int"))?;
    match number.to_i64_exact() {
        Some(strength @ 1..=5) => Ok(strength),
        _ => Err(not_a_value(element, &format!("{}", number.to_f64()))),
    }
}

fn case_first(element: Element<'_>) -> Result<CollationCaseFirst> {
    match text(element)? {
        "upper" => Ok(CollationCaseFirst::Upper),
        "lower" => Ok(CollationCaseFirst::Lower),
        "off" => Ok(CollationCaseFirst::False),
        other => Err(not_a_value(element, other)),
    }
}

fn alternate(element: Element<'_>) -> Result<AlternateHandling> {
    match text(element)? {
        "non-ignorable" => Ok(AlternateHandling::NonIgnorable),
        "shifted" => Ok(AlternateHandling::Shifted),
        other => Err(not_a_value(element, other)),
    }
}

fn max_variable(element: Element<'_>) -> Result<MaxVariable> {
    match text(element)? {
        "punct" => Ok(MaxVariable::Punctuation),
        "space" => Ok(MaxVariable::Space),
        other => Err(not_a_value(element, other)),
    }
}

fn version(element: Element<'_>) -> Result<()> {
    match text(element)? {
        VERSION => Ok(()),
        other => Err(Code::IncompatibleCollationVersion.error(format!(
            "Requested collation version {other} but the only available collator version was \
             {VERSION}"
        ))),
    }
}

fn not_a_value(element: Element<'_>, given: &str) -> Error {
    Code::BadValue.error(format!(
        "Enumeration value '{given}' for field 'collation.{}' is not a valid value.",
        element.key
    ))
}
