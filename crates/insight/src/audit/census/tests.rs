use super::*;
use bson::oid::ObjectId;
use bson::{DateTime, RawDocumentBuf, rawdoc};

const NOW: i64 = 1_700_000_000_000;
const DAY: i64 = 24 * 60 * 60 * 1000;

fn census(documents: impl IntoIterator<Item = RawDocumentBuf>) -> Census {
    let mut census = Census::new(NOW);
    documents.into_iter().for_each(|document| census.add(&document));
    census
}

#[test]
fn arrays_are_counted_by_path() {
    let census = census([
        rawdoc! { "_id": 1, "tags": ["a"], "items": [{ "n": 1, "sub": [1, 2] }, { "sub": [] }] },
        rawdoc! { "_id": 2, "tags": [], "deep": { "list": [[1, 2, 3], [4]] } },
    ]);
    let lengths: Vec<_> = census
        .arrays()
        .into_iter()
        .map(|(path, array)| (path, array.lengths.count(), array.lengths.max()))
        .collect();
    let row = |path: &str, count, max| (path.to_owned(), count, max);
    assert_eq!(
        lengths,
        [
            row("deep.list.$[]", 2, 3),
            row("deep.list", 1, 2),
            row("items", 1, 2),
            row("items.sub", 2, 2),
            row("tags", 2, 1),
        ]
    );
    assert_eq!(census.tree.find("items.n").unwrap().count, 1);
    assert_eq!(census.broken, 0);
}

#[test]
fn the_longest_array_tells_its_document_and_its_dates() {
    let made = |day: i64| DateTime::from_millis(NOW - day * DAY);
    let census = census([
        rawdoc! { "_id": "short", "log": [{ "at": made(1) }] },
        rawdoc! { "_id": "long", "log": [{ "at": made(30) }, { "at": made(10) }, { "at": made(20) }] },
    ]);
    let (_, array) = census.arrays().into_iter().next().unwrap();
    let (length, longest) = array.longest.first().unwrap();
    assert_eq!((length, &longest.id), (3, &Value::from("long")));
    assert_eq!(longest.span.days(), Some(20.0));
    assert!(array.has_documents() && !array.is_numeric());
}

#[test]
fn sizes_and_heavy_fields_are_told() {
    let census = census([
        rawdoc! { "_id": 1, "name": "x", "blob": "y".repeat(1000) },
        rawdoc! { "_id": 2, "name": "x" },
    ]);
    let (bytes, largest) = census.largest.first().unwrap();
    assert_eq!(bytes, census.sizes.max());
    assert_eq!((&largest.id, &*largest.fields[0].0), (&Value::from(1), "blob"));
    assert_eq!(census.heavy_fields()[0], ("blob".to_owned(), 1005));
}

#[test]
fn keys_that_are_data_become_a_family() {
    let documents = (0..40).map(|day| {
        let mut counts = RawDocumentBuf::new();
        for key in [format!("2024-01-{day:02}"), format!("2025-{:02}", day % 12 + 1)] {
            counts.append(bson::raw::CString::try_from(key).unwrap(), 1);
        }
        rawdoc! { "_id": day, "counts": counts, "line1": "a", "line2": "b" }
    });
    let census = census(documents);
    let families: Vec<_> = census
        .tree
        .families()
        .map(|it| (it.template.clone(), it.distinct(), it.documents, it.in_document_max))
        .collect();
    assert_eq!(families, [("<date>".to_owned(), 52, 40, 2), ("line<number>".to_owned(), 2, 40, 2)]);
    assert!(census.tree.find("counts.<date>").is_some());
    assert!(census.tree.paths() < 30);
}

#[test]
fn paths_have_a_cap() {
    let letters = |number: usize| {
        let digits = format!("{number:05}");
        digits.bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>()
    };
    let documents = (0..200).map(|number| {
        let mut document = rawdoc! { "_id": number };
        for key in 0..100 {
            let inner = bson::raw::CString::try_from(letters(key)).unwrap();
            let mut nested = RawDocumentBuf::new();
            nested.append(inner.clone(), number);
            document.append(inner, rawdoc! { "a": nested, "b": 1 });
        }
        let outer = bson::raw::CString::try_from(letters(number as usize + 500)).unwrap();
        document.append(outer, rawdoc! { "a": 1, "b": 1 });
        document
    });
    let census = census(documents);
    assert!(census.tree.paths() <= 5_000);
    let names = census.tree.families().find(|it| it.class == KeyClass::Name);
    // The hundred every document has and the two hundred that one has each.
    assert!(names.is_none() || names.unwrap().distinct() < 50);
}

/// Keys of no pattern that end in a digit: each would be a family of its own.
#[test]
fn families_have_a_cap() {
    let documents = (0..3_000_u32).map(|number| {
        let letter = |place: u32| char::from(b'a' + (number / 26_u32.pow(place) % 26) as u8);
        let key: String = [letter(2), letter(1), letter(0), '7'].iter().collect();
        let mut document = rawdoc! { "_id": number as i32 };
        document.append(bson::raw::CString::try_from(key).unwrap(), 1);
        document
    });
    let census = census(documents);
    assert!(census.tree.families().count() <= 33);
    assert!(census.tree.paths() < 100, "{}", census.tree.paths());
    let names = census.tree.families().find(|it| it.class == KeyClass::Name).unwrap();
    assert!(names.distinct() > 2_900);
}

#[test]
fn spellings_of_ids_and_creation_are_followed() {
    let id = ObjectId::parse_str("500000000000000000000000").unwrap();
    let census = census([
        rawdoc! { "_id": "Ann", "email": "A@x" },
        rawdoc! { "_id": "ann", "email": "b@x", "name": "Bo" },
        rawdoc! { "_id": id, "name": "bo" },
    ]);
    let colliding = |path: &str| {
        let node = census.tree.find(path).unwrap();
        node.spellings.as_ref().map(|spellings| spellings.colliding())
    };
    assert_eq!((colliding("_id"), colliding("email"), colliding("name")), (Some(1), Some(0), None));
    assert_eq!(census.created.ages.count(), 1);
}

#[test]
fn broken_text_is_noted_and_not_fatal() {
    let mut bytes = rawdoc! { "_id": 7, "name": "abcd", "tags": ["x"] }.into_bytes();
    let at = bytes.windows(4).position(|window| window == b"abcd").unwrap();
    bytes[at] = 0xFF;
    let value = RawDocumentBuf::from_bytes(bytes).unwrap();
    let mut bytes = rawdoc! { "_id": 8, "name": 1 }.into_bytes();
    let at = bytes.windows(4).position(|window| window == b"name").unwrap();
    bytes[at] = 0xFF;
    let key = RawDocumentBuf::from_bytes(bytes).unwrap();
    let census = census([value, key, rawdoc! { "_id": 9, "name": "é" }]);
    assert_eq!((census.broken, &*census.broken_ids), (2, &[Value::from(7), Value::from(8)][..]));
    assert_eq!(census.documents(), 3);
}
