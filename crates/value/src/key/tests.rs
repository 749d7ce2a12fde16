use super::*;
use crate::order::compare;
use crate::sample;
use bson::{Bson, RawBson, RawDocumentBuf, doc};
use proptest::prelude::*;
use std::cmp::Ordering;

fn key(value: &RawBson, direction: Direction) -> Key {
    let mut key = Key::default();
    key.push(value.as_raw_bson_ref(), direction, None);
    key
}

/// Equal to the last bit, where `==` on doubles would not do.
fn same(a: &RawBson, b: &RawBson) -> bool {
    let bytes = |value: &RawBson| {
        let mut writer = crate::DocumentWriter::new();
        writer.append("", value.as_raw_bson_ref());
        writer.into_bytes()
    };
    bytes(a) == bytes(b)
}

fn assert_agree(a: &RawBson, b: &RawBson) {
    let order = compare(a.as_raw_bson_ref(), b.as_raw_bson_ref());
    let (up_a, up_b) = (key(a, Direction::Ascending), key(b, Direction::Ascending));
    assert_eq!(up_a.bytes.cmp(&up_b.bytes), order, "{a:?} and {b:?}");
    let (down_a, down_b) = (key(a, Direction::Descending), key(b, Direction::Descending));
    assert_eq!(down_a.bytes.cmp(&down_b.bytes), order.reverse(), "{a:?} and {b:?}, descending");
    if order.is_ne() {
        assert!(!up_a.bytes.starts_with(&up_b.bytes), "{b:?} is a prefix of {a:?}");
    }
    assert_eq!(compare(b.as_raw_bson_ref(), a.as_raw_bson_ref()), order.reverse());
}

fn assert_survives(value: &RawBson) {
    for direction in [Direction::Ascending, Direction::Descending] {
        let key = key(value, direction);
        assert!(!matches!(key.bytes[0], 0 | 0xFF), "{value:?}");
        let decoded = decode(&key.bytes, &key.types, &[direction]).expect("a key of ours");
        assert!(same(&decoded[0], value), "{value:?} became {:?}", decoded[0]);
        let mut longer = key.bytes.clone();
        longer.extend_from_slice(&[tag::STRING, 0, TEXT_END]);
        assert_eq!(skip(&longer, direction), Some(key.bytes.len()), "{value:?}");
    }
}

#[test]
fn numbers_near_every_boundary_agree() {
    let numbers = sample::boundary_numbers();
    let keys: Vec<_> = numbers.iter().map(|number| key(number, Direction::Ascending)).collect();
    for (a, key_a) in numbers.iter().zip(&keys) {
        assert_survives(a);
        for (b, key_b) in numbers.iter().zip(&keys) {
            let order = compare(a.as_raw_bson_ref(), b.as_raw_bson_ref());
            assert_eq!(key_a.bytes.cmp(&key_b.bytes), order, "{a:?} and {b:?}");
        }
    }
}

#[test]
fn fields_compare_by_class_then_name_then_value() {
    let ordered = [
        doc! {},
        doc! { "b": 1 },
        doc! { "b": 1, "a": 1 },
        doc! { "c": -5 },
        doc! { "a": "x" },
        doc! { "a": ["x"] },
    ];
    for pair in ordered.windows(2) {
        let raw =
            |document: &bson::Document| RawBson::from(RawDocumentBuf::try_from(document).unwrap());
        let (a, b) = (raw(&pair[0]), raw(&pair[1]));
        assert_eq!(compare(a.as_raw_bson_ref(), b.as_raw_bson_ref()), Ordering::Less);
        assert_agree(&a, &b);
    }
}

#[test]
fn common_types_need_no_entries() {
    for value in [
        Bson::Int32(5),
        Bson::Int64(1 << 40),
        Bson::Double(0.5),
        Bson::Double(1e300),
        Bson::String("a\0b".into()),
        Bson::Boolean(true),
        Bson::Null,
    ] {
        let value = RawBson::try_from(value).unwrap();
        assert!(key(&value, Direction::Ascending).types.is_empty(), "{value:?}");
    }
}

#[test]
fn small_integers_are_short() {
    assert_eq!(key(&RawBson::Int32(1), Direction::Ascending).bytes.len(), 2);
    assert_eq!(key(&RawBson::Int32(-100), Direction::Ascending).bytes.len(), 2);
    assert_eq!(key(&RawBson::Int32(i32::MAX), Direction::Ascending).bytes.len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn key_order_is_value_order(a in sample::value(), b in sample::value()) {
        assert_agree(&a, &b);
    }

    #[test]
    fn number_key_order_is_number_order(a in sample::number(), b in sample::number()) {
        assert_agree(&a, &b);
    }

    #[test]
    fn what_is_encoded_is_decoded(value in sample::value()) {
        assert_survives(&value);
    }

    #[test]
    fn compound_keys_compare_field_by_field(
        a in [sample::value(), sample::value()],
        b in [sample::value(), sample::value()],
        down in any::<[bool; 2]>(),
    ) {
        let directions = down.map(|down| {
            if down { Direction::Descending } else { Direction::Ascending }
        });
        let compound = |values: &[RawBson; 2]| {
            let mut key = Key::default();
            for (value, direction) in values.iter().zip(directions) {
                key.push(value.as_raw_bson_ref(), direction, None);
            }
            key
        };
        let (key_a, key_b) = (compound(&a), compound(&b));
        let mut order = Ordering::Equal;
        for at in 0..2 {
            let one = compare(a[at].as_raw_bson_ref(), b[at].as_raw_bson_ref());
            order = order.then(if down[at] { one.reverse() } else { one });
        }
        prop_assert_eq!(key_a.bytes.cmp(&key_b.bytes), order);
        let decoded = decode(&key_a.bytes, &key_a.types, &directions).unwrap();
        prop_assert!(same(&decoded[0], &a[0]) && same(&decoded[1], &a[1]));
    }

    #[test]
    fn garbage_is_refused_without_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..40),
        types in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let _ = decode(&bytes, &types, &[Direction::Ascending]);
        let _ = decode(&bytes, &types, &[Direction::Descending, Direction::Ascending]);
    }

    #[test]
    fn a_damaged_key_is_refused_without_panic(
        value in sample::value(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut key = key(&value, Direction::Ascending);
        let at = at.index(key.bytes.len());
        key.bytes[at] = byte;
        let _ = decode(&key.bytes, &key.types, &[Direction::Ascending]);
    }
}
