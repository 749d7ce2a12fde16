use super::*;
use crate::key::{Direction, Key};
use bson::{Document, RawBsonRef, doc};
use proptest::prelude::*;
use std::cmp::Ordering;

fn collator(spec: &Document) -> Collator {
    let spec = RawDocumentBuf::try_from(spec).unwrap();
    Collator::parse(&spec).unwrap().expect("not simple")
}

fn code(spec: Document) -> i32 {
    let spec = RawDocumentBuf::try_from(&spec).unwrap();
    Collator::parse(&spec).unwrap_err().code().number()
}

/// A collation and words in its order, `=` between those that are equal.
fn check(spec: Document, words: &str) {
    let collator = collator(&spec);
    let words: Vec<&str> = words.split(' ').collect();
    let mut expected = Ordering::Less;
    let mut previous: Option<&str> = None;
    for word in words {
        if word == "=" {
            expected = Ordering::Equal;
            continue;
        }
        if let Some(previous) = previous {
            assert_eq!(collator.compare(previous, word), expected, "{spec}: {previous} {word}");
        }
        previous = Some(word);
        expected = Ordering::Less;
    }
}

#[test]
fn every_option_has_its_effect() {
    check(doc! { "locale": "en" }, "a A á Á b B");
    check(doc! { "locale": "en", "strength": 1 }, "a = A = á b = B");
    check(doc! { "locale": "en", "strength": 2 }, "a = A á = Á b");
    check(doc! { "locale": "en", "strength": 1, "caseLevel": true }, "a = á A = Á b");
    check(doc! { "locale": "en", "caseFirst": "upper" }, "A a B b");
    check(doc! { "locale": "en", "numericOrdering": true }, "a2 a10 a100");
    check(doc! { "locale": "en", "numericOrdering": false }, "a10 a100 a2");
    check(doc! { "locale": "en", "alternate": "shifted" }, "a-b = ab a-c");
    check(doc! { "locale": "en", "alternate": "shifted", "maxVariable": "space" }, "a-b ab");
    check(doc! { "locale": "en", "alternate": "shifted", "strength": 4 }, "a-b ab");
    check(doc! { "locale": "fr" }, "cote coté côte côté");
    check(doc! { "locale": "fr", "backwards": true }, "cote côte coté côté");
    check(doc! { "locale": "fr_CA" }, "cote côte coté côté");
    check(doc! { "locale": "sv" }, "z å ä ö");
    check(doc! { "locale": "de@collation=phonebook" }, "ad ä af");
    check(doc! { "locale": "en", "normalization": true }, "\u{e9} = e\u{301} f");
}

#[test]
fn simple_and_empty_are_binary() {
    for spec in [doc! { "locale": "simple" }, doc! {}] {
        let spec = RawDocumentBuf::try_from(&spec).unwrap();
        assert!(Collator::parse(&spec).unwrap().is_none());
    }
}

#[test]
fn what_is_wrong_is_refused() {
    assert_eq!(code(doc! { "strength": 1 }), 40414);
    assert_eq!(code(doc! { "locale": 1 }), 14);
    assert_eq!(code(doc! { "locale": "xx" }), 2);
    assert_eq!(code(doc! { "locale": "de@collation=search" }), 2);
    assert_eq!(code(doc! { "locale": "simple", "strength": 1 }), 2);
    assert_eq!(code(doc! { "locale": "en", "foo": 1 }), 40415);
    assert_eq!(code(doc! { "locale": "en", "strength": 6 }), 2);
    assert_eq!(code(doc! { "locale": "en", "strength": "1" }), 14);
    assert_eq!(code(doc! { "locale": "en", "caseLevel": 1 }), 14);
    assert_eq!(code(doc! { "locale": "en", "caseFirst": "x" }), 2);
    assert_eq!(code(doc! { "locale": "en", "caseFirst": "upper", "strength": 1 }), 2);
    assert_eq!(code(doc! { "locale": "en", "alternate": "x" }), 2);
    assert_eq!(code(doc! { "locale": "en", "maxVariable": "x" }), 2);
    assert_eq!(code(doc! { "locale": "en", "version": "1" }), 161);
    assert_eq!(code(doc! { "locale": "sv", "backwards": true }), 2);
}

#[test]
fn the_document_spells_everything_out() {
    let spelled = collator(&doc! { "locale": "en_US", "strength": 2.0 });
    let expected = doc! {
        "locale": "en_US", "caseLevel": false, "caseFirst": "off", "strength": 2,
        "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct",
        "normalization": false, "backwards": false, "version": "57.1",
    };
    assert_eq!(spelled.document(), &*RawDocumentBuf::try_from(&expected).unwrap());
    let again = Collator::parse(spelled.document()).unwrap().unwrap();
    assert_eq!(again, spelled);
}

#[test]
fn every_locale_and_variant_has_data() {
    for locale in locales::LOCALES {
        collator(&doc! { "locale": *locale });
    }
    for (locale, variant, _) in locales::VARIANTS {
        collator(&doc! { "locale": format!("{locale}@collation={variant}") });
    }
}

fn spec() -> impl Strategy<Value = Document> {
    const LOCALES: &[&str] =
        &["en", "fr_CA", "sv", "ja", "zh", "th", "lt", "de@collation=phonebook"];
    (
        prop::sample::select(LOCALES),
        1i32..=5,
        any::<bool>(),
        prop::sample::select(&["off", "upper", "lower"][..]),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(locale, strength, case_level, case_first, numeric, shifted)| {
            let case_first = if strength < 3 && !case_level { "off" } else { case_first };
            let alternate = if shifted { "shifted" } else { "non-ignorable" };
            doc! {
                "locale": locale, "strength": strength, "caseLevel": case_level,
                "caseFirst": case_first, "numericOrdering": numeric, "alternate": alternate,
            }
        })
}

proptest! {
    #[test]
    fn sort_keys_agree_with_comparison(
        spec in spec(),
        a in "[aAáÀbß1209 \\-あアｱ\u{301}\u{0}]{0,6}",
        b in "[aAáÀbß1209 \\-あアｱ\u{301}\u{0}]{0,6}",
    ) {
        let collator = collator(&spec);
        let order = collator.compare(&a, &b);
        let key = |text: &str| {
            let mut key = Key::default();
            key.push(RawBsonRef::String(text), Direction::Ascending, Some(&collator));
            key.bytes
        };
        prop_assert_eq!(key(&a).cmp(&key(&b)), order, "{} {:?} {:?}", spec, a, b);
        prop_assert_eq!(collator.compare(&b, &a), order.reverse());
    }
}
