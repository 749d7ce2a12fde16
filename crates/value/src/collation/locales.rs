//! The locales that MongoDB knows, in its spelling.

/// Every locale that may be named, in order.
pub const LOCALES: &[&str] = &[
    "af",
    "am",
    "ar",
    "as",
    "az",
    "be",
    "bg",
    "bn",
    "bo",
    "bs",
    "bs_Cyrl",
    "ca",
    "chr",
    "cs",
    "cy",
    "da",
    "de",
    "de_AT",
    "dsb",
    "dz",
    "ee",
    "el",
    "en",
    "en_US",
    "en_US_POSIX",
    "eo",
    "es",
    "et",
    "fa",
    "fa_AF",
    "fi",
    "fil",
    "fo",
    "fr",
    "fr_CA",
    "ga",
    "gl",
    "gu",
    "ha",
    "haw",
    "he",
    "hi",
    "hr",
    "hsb",
    "hu",
    "hy",
    "id",
    "ig",
    "is",
    "it",
    "ja",
    "ka",
    "kk",
    "kl",
    "km",
    "kn",
    "ko",
    "kok",
    "ky",
    "lb",
    "li",
    "lkt",
    "ln",
    "lo",
    "lt",
    "lv",
    "mk",
    "ml",
    "mn",
    "mr",
    "ms",
    "mt",
    "my",
    "nb",
    "ne",
    "nl",
    "nn",
    "om",
    "or",
    "pa",
    "pl",
    "ps",
    "pt",
    "ro",
    "ru",
    "se",
    "si",
    "sk",
    "sl",
    "smn",
    "sq",
    "sr",
    "sr_Latn",
    "sv",
    "sw",
    "ta",
    "te",
    "th",
    "to",
    "tr",
    "ug",
    "uk",
    "ur",
    "vi",
    "wae",
    "yi",
    "yo",
    "zh",
    "zh_Hant",
    "zu",
];

/// The variants that may be asked for behind a locale, as `de@collation=phonebook`:
/// the locale, MongoDB's name, the name in a language tag.
pub const VARIANTS: &[(&str, &str, &str)] = &[
    ("ar", "compat", "compat"),
    ("bn", "traditional", "trad"),
    ("de", "phonebook", "phonebk"),
    ("de_AT", "phonebook", "phonebk"),
    ("es", "traditional", "trad"),
    ("fi", "traditional", "trad"),
    ("ja", "unihan", "unihan"),
    ("kn", "traditional", "trad"),
    ("ko", "unihan", "unihan"),
    ("si", "dictionary", "dict"),
    ("vi", "traditional", "trad"),
    ("zh", "pinyin", "pinyin"),
    ("zh", "stroke", "stroke"),
    ("zh", "unihan", "unihan"),
    ("zh", "zhuyin", "zhuyin"),
    ("zh_Hant", "pinyin", "pinyin"),
    ("zh_Hant", "stroke", "stroke"),
    ("zh_Hant", "unihan", "unihan"),
    ("zh_Hant", "zhuyin", "zhuyin"),
];

/// Locales whose order is the common one, Canadian French apart from its accents.
/// Only for these can `backwards` be chosen: they sort as `fr` or as `fr_CA`.
pub const COMMON_ORDER: &[&str] = &[
    "de", "en", "en_US", "fr", "fr_CA", "ga", "id", "it", "lb", "li", "ms", "nl", "pt", "sw", "zu",
];

/// The language tag of a locale, such as `de-u-co-phonebk`; `None` for one that
/// is not known or whose data is not included.
pub fn language_tag(locale: &str) -> Option<String> {
    let (base, variant) = match locale.split_once("@collation=") {
        Some((base, variant)) => (base, Some(variant)),
        None => (locale, None),
    };
    LOCALES.binary_search(&base).ok()?;
    let tag = match base {
        "en_US_POSIX" => "en-US-u-va-posix".into(),
        base => base.replace('_', "-"),
    };
    match variant {
        None | Some("standard") => Some(tag),
        Some(variant) => {
            let row = VARIANTS.iter().find(|row| row.0 == base && row.1 == variant)?;
            Some(format!("{tag}-u-co-{}", row.2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        assert!(LOCALES.is_sorted());
        assert_eq!(language_tag("en_US").as_deref(), Some("en-US"));
        assert_eq!(language_tag("de@collation=phonebook").as_deref(), Some("de-u-co-phonebk"));
        for unknown in ["", "xx", "en-US", "EN", "de@collation=search", "en@x=y"] {
            assert_eq!(language_tag(unknown), None, "{unknown}");
        }
    }
}
