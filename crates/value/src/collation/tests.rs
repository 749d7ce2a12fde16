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

/// What the library says, however long it takes.
fn plain(collator: &Collator, a: &str, b: &str) -> Ordering {
    collator.collator.compare(a, b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Texts that begin alike, and whose beginnings the collator must step back over.
    #[test]
    fn long_texts_compare_like_short_ones(
        spec in spec(),
        piece in "[c1あ\\-ーa \u{301}\u{323}]{1,3}",
        times in 200usize..700,
        a in "[aAchá12 ーア\u{301}\u{323}]{0,5}",
        b in "[aAchá12 ーア\u{301}\u{323}]{0,5}",
        after in 0usize..2,
    ) {
        let collator = collator(&spec);
        prop_assume!(!piece.chars().all(|c| ('\u{300}'..='\u{36f}').contains(&c)));
        let after = "d".repeat(after * 600);
        let text = |end: &str| format!("{}{end}{after}", piece.repeat(times));
        let (a, b) = (text(&a), text(&b));
        let order = collator.compare(&a, &b);
        prop_assert_eq!(order, plain(&collator, &a, &b), "{} {:?} {:?} {:?}", spec, piece, a, b);
        prop_assert_eq!(collator.compare(&b, &a), order.reverse());
        let key = |text: &str| {
            let mut key = Vec::new();
            collator.sort_key(text, &mut key);
            key
        };
        prop_assert_eq!(key(&a).cmp(&key(&b)), order);
    }

    /// Marks in any order that are canonically equivalent are equal, however many they are.
    #[test]
    fn many_marks_are_compared_in_canonical_order(
        base in prop::sample::select(&["e", "ệ", "x", ""][..]),
        below in 0usize..400,
        above in 0usize..400,
        turned in any::<bool>(),
    ) {
        let collator = collator(&doc! { "locale": "en", "strength": 5 });
        let (below, above) = ("\u{323}".repeat(below), "\u{301}".repeat(above));
        let sorted = format!("{base}{below}{above}!{}", "a".repeat(600));
        let other = if turned { sorted.clone() } else { format!("{base}{above}{below}!{}", "a".repeat(600)) };
        prop_assert_eq!(collator.compare(&sorted, &other), Ordering::Equal);
        prop_assert_eq!(plain(&collator, &sorted, &other), Ordering::Equal);
        let more = format!("{sorted}\u{301}");
        prop_assert_eq!(collator.compare(&sorted, &more), plain(&collator, &sorted, &more));
    }
}

/// What `long::word_start` relies on: what comes before a word changes nothing in it.
#[test]
fn no_collation_joins_a_space_to_a_word() {
    let variants = locales::VARIANTS.iter();
    let variants = variants.map(|(locale, variant, _)| format!("{locale}@collation={variant}"));
    for locale in locales::LOCALES.iter().map(ToString::to_string).chain(variants) {
        let collator = collator(&doc! { "locale": &locale });
        let words: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
        for space in [' ', '\n'] {
            for pair in words.windows(2) {
                let alone = plain(&collator, &pair[0].to_string(), &pair[1].to_string());
                let [a, b] = [pair[0], pair[1]].map(|c| format!("c{space}{c}"));
                assert_eq!(plain(&collator, &a, &b), alone, "{locale}: {a:?} {b:?}");
                let key = |text: &str| {
                    let mut key = Vec::new();
                    collator.sort_key(text, &mut key);
                    key.len()
                };
                assert!(key(&a) > key(&format!("c{space}")), "{locale}: {a:?}");
            }
        }
    }
}

/// Two long texts: the square of their length would take minutes.
#[test]
fn the_time_of_a_comparison_grows_with_the_length() {
    let numeric = collator(&doc! { "locale": "cs", "numericOrdering": true });
    for piece in ["1", "c", "\u{301}", "\u{323}\u{301}", "\u{f73}", "\u{20d0}"] {
        let text = piece.repeat(300_000 / piece.len());
        let begun = std::time::Instant::now();
        assert_eq!(numeric.compare(&format!("{text}1"), &format!("{text}2")), Ordering::Less);
        numeric.sort_key(&text, &mut Vec::new());
        assert!(begun.elapsed().as_secs() < 20, "{piece:?} {:?}", begun.elapsed());
    }
}
