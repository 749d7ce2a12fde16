use super::{read, write};
use bson::oid::ObjectId;
use bson::spec::{BinarySubtype, ElementType};
use bson::{
    Binary, DateTime, Decimal128, RawArrayBuf, RawBson, RawDocumentBuf, RawJavaScriptCodeWithScope,
    Timestamp, rawdoc,
};
use proptest::prelude::*;
use value::{DocumentWriter, Element};

fn text(document: &RawDocumentBuf) -> String {
    let mut out = Vec::new();
    write(document, &mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn raw(kind: ElementType, bytes: &[u8]) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    writer.copy(Element { kind, key: "v", bytes });
    writer.finish()
}

/// Each document is written as expected and read back to the same bytes.
#[test]
fn every_type_has_its_notation() {
    let oid = ObjectId::parse_str("0123456789abcdef01234567").unwrap();
    let binary = |subtype, bytes: &[u8]| RawBson::Binary(Binary { subtype, bytes: bytes.to_vec() });
    let code = RawJavaScriptCodeWithScope { code: "f()".into(), scope: rawdoc! { "a": 1 } };
    let decimal = |text: &str| RawBson::Decimal128(text.parse::<Decimal128>().unwrap());
    let mut pointer = vec![4, 0, 0, 0, b'd', b'.', b'c', 0];
    pointer.extend_from_slice(&oid.bytes());
    for (document, expected) in [
        (rawdoc! { "v": 1 }, r#"{"v":{"$numberInt":"1"}}"#),
        (rawdoc! { "v": -5_i64 }, r#"{"v":{"$numberLong":"-5"}}"#),
        (rawdoc! { "v": 1.0 }, r#"{"v":{"$numberDouble":"1.0"}}"#),
        (rawdoc! { "v": -0.0 }, r#"{"v":{"$numberDouble":"-0.0"}}"#),
        (rawdoc! { "v": 1e300 }, r#"{"v":{"$numberDouble":"1e300"}}"#),
        (rawdoc! { "v": f64::NAN }, r#"{"v":{"$numberDouble":"NaN"}}"#),
        (rawdoc! { "v": f64::NEG_INFINITY }, r#"{"v":{"$numberDouble":"-Infinity"}}"#),
        (rawdoc! { "v": decimal("1.00") }, r#"{"v":{"$numberDecimal":"1.00"}}"#),
        (rawdoc! { "v": "a\"\\\n\u{1}é𝄞" }, "{\"v\":\"a\\\"\\\\\\n\\u0001é𝄞\"}"),
        (rawdoc! { "v": true, "w": RawBson::Null }, r#"{"v":true,"w":null}"#),
        (rawdoc! { "v": [1, []], "w": {} }, r#"{"v":[{"$numberInt":"1"},[]],"w":{}}"#),
        (rawdoc! { "v": oid }, r#"{"v":{"$oid":"0123456789abcdef01234567"}}"#),
        (rawdoc! { "v": DateTime::from_millis(-1) }, r#"{"v":{"$date":{"$numberLong":"-1"}}}"#),
        (
            rawdoc! { "v": Timestamp { time: u32::MAX, increment: 2 } },
            r#"{"v":{"$timestamp":{"t":4294967295,"i":2}}}"#,
        ),
        (
            rawdoc! { "v": binary(BinarySubtype::Generic, &[1, 2]) },
            r#"{"v":{"$binary":{"base64":"AQI=","subType":"00"}}}"#,
        ),
        (
            rawdoc! { "v": binary(BinarySubtype::BinaryOld, &[1, 2]) },
            r#"{"v":{"$binary":{"base64":"AQI=","subType":"02"}}}"#,
        ),
        (
            raw(ElementType::RegularExpression, b"^a/\0xi\0"),
            r#"{"v":{"$regularExpression":{"pattern":"^a/","options":"xi"}}}"#,
        ),
        (rawdoc! { "v": RawBson::JavaScriptCode("f".into()) }, r#"{"v":{"$code":"f"}}"#),
        (
            rawdoc! { "v": RawBson::JavaScriptCodeWithScope(code) },
            r#"{"v":{"$code":"f()","$scope":{"a":{"$numberInt":"1"}}}}"#,
        ),
        (rawdoc! { "v": RawBson::Symbol("s".into()) }, r#"{"v":{"$symbol":"s"}}"#),
        (rawdoc! { "v": RawBson::Undefined }, r#"{"v":{"$undefined":true}}"#),
        (
            rawdoc! { "v": RawBson::MinKey, "w": RawBson::MaxKey },
            r#"{"v":{"$minKey":1},"w":{"$maxKey":1}}"#,
        ),
        (
            raw(ElementType::DbPointer, &pointer),
            r#"{"v":{"$dbPointer":{"$ref":"d.c","$id":{"$oid":"0123456789abcdef01234567"}}}}"#,
        ),
    ] {
        assert_eq!(text(&document), expected);
        let back = read(expected).unwrap_or_else(|why| panic!("{expected}: {why}"));
        assert_eq!(back.as_bytes(), document.as_bytes(), "{expected}");
    }
}

#[test]
fn decimals_keep_their_exponent() {
    for number in [
        "0",
        "-0",
        "1",
        "1.0",
        "1.00",
        "1E+3",
        "0E-6176",
        "9.99E+6144",
        "NaN",
        "Infinity",
        "-Infinity",
    ] {
        let document = rawdoc! { "v": number.parse::<Decimal128>().unwrap() };
        assert_eq!(read(&text(&document)).unwrap().as_bytes(), document.as_bytes(), "{number}");
    }
}

#[test]
fn relaxed_forms_are_read() {
    let read = |text: &str| read(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    assert_eq!(read(r#" {"v" : 5 , "w":-1} "#), rawdoc! { "v": 5, "w": -1 });
    assert_eq!(read(r#"{"v":3000000000}"#), rawdoc! { "v": 3_000_000_000_i64 });
    assert_eq!(read(r#"{"v":1.5,"w":1e2}"#), rawdoc! { "v": 1.5, "w": 100.0 });
    let date = DateTime::from_millis(1);
    assert_eq!(read(r#"{"v":{"$date":"1970-01-01T00:00:00.001Z"}}"#), rawdoc! { "v": date });
    assert_eq!(read(r#"{"v":"\ud834\udd1e\u00e9\/"}"#), rawdoc! { "v": "𝄞é/" });
    let uuid = bson::Uuid::parse_str("00112233-4455-6677-8899-aabbccddeeff").unwrap();
    assert_eq!(
        read(r#"{"v":{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"}}"#),
        rawdoc! { "v": Binary::from(uuid) }
    );
    // What is no type is a document.
    assert_eq!(read(r#"{"v":{"$ref":"c","$id":1}}"#), rawdoc! { "v": { "$ref": "c", "$id": 1 } });
}

#[test]
fn what_is_wrong_is_said() {
    for (text, why) in [
        ("", "column 1: expected a value"),
        ("1", "a document was expected"),
        ("{\"a\":1", "column 7: expected ',' or '}'"),
        ("{a:1}", "column 2: expected a field's name in quotes"),
        ("{\"a\":01}", "column 6: expected a number"),
        ("{\"a\":1} x", "column 9: expected the end of the line"),
        ("{\"a\":\"x}", "column 7: expected the end of a string"),
        ("{\"a\":\"\\ud800\"}", "column 13: expected a Unicode character"),
        ("{\"a\":{\"$oid\":\"1\"}}", "this is no $oid: \"1\""),
        ("{\"a\":{\"$numberInt\":\"3000000000\"}}", "this is no $numberInt: \"3000000000\""),
        ("{\"a\":{\"$date\":{}}}", "this is no $date: its parts are not as they should be"),
    ] {
        assert_eq!(read(text).expect_err(text), why, "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(read(&format!("{{\"a\":{deep}")).is_err());
}

fn any_value() -> impl Strategy<Value = RawBson> {
    let leaf = prop_oneof![
        any::<f64>().prop_filter("one NaN", |n| !n.is_nan()).prop_map(RawBson::Double),
        any::<i32>().prop_map(RawBson::Int32),
        any::<i64>().prop_map(RawBson::Int64),
        any::<String>().prop_map(RawBson::String),
        any::<bool>().prop_map(RawBson::Boolean),
        any::<i64>().prop_map(|ms| RawBson::DateTime(DateTime::from_millis(ms))),
        any::<[u8; 12]>().prop_map(|id| RawBson::ObjectId(ObjectId::from_bytes(id))),
        any::<Vec<u8>>().prop_map(|bytes| {
            RawBson::Binary(Binary { subtype: BinarySubtype::Generic, bytes })
        }),
        Just(RawBson::Null),
        Just(RawBson::MaxKey),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|values| { RawBson::Array(RawArrayBuf::from_iter(values)) }),
            prop::collection::vec(("[a-z.]{0,3}", inner), 0..6).prop_map(|fields| {
                let mut writer = DocumentWriter::new();
                fields.iter().for_each(|(key, value)| writer.append(key, value.as_raw_bson_ref()));
                RawBson::Document(writer.finish())
            }),
        ]
    })
}

proptest! {
    /// Fields that come twice and their order stay, too.
    #[test]
    fn any_document_is_read_back_to_the_same_bytes(value in any_value()) {
        let document = rawdoc! { "v": value };
        let back = read(&text(&document)).map_err(TestCaseError::fail)?;
        prop_assert_eq!(back.as_bytes(), document.as_bytes());
    }
}
