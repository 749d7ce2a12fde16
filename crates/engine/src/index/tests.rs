//! Keys of documents, read back as text.

use super::*;
use crate::catalog::{Index, IndexField, IndexKind};
use crate::storage::IndexId;
use bson::{RawBson, RawDocumentBuf, rawdoc};
use value::key::decode;

fn index(spec: &RawDocumentBuf) -> Index {
    Index::from_spec(IndexId(1), spec, true).expect("an index")
}

fn shown(index: &Index, keys: &[value::key::Key]) -> Vec<String> {
    let mut directions: Vec<_> = index.fields.iter().map(|field| field.direction()).collect();
    let is_wildcard = |field: &IndexField| field.kind == IndexKind::Wildcard;
    if let Some(at) = index.fields.iter().position(is_wildcard) {
        directions.insert(at, directions[at]);
    }
    let text = |values: Vec<RawBson>| {
        let texts: Vec<String> =
            values.iter().map(|value| value::text::value(value.as_raw_bson_ref())).collect();
        texts.join(" | ")
    };
    let decoded = |key: &value::key::Key| decode(&key.bytes, &key.types, &directions);
    keys.iter().map(|key| text(decoded(key).expect("a key"))).collect()
}

#[track_caller]
fn assert_keys(spec: RawDocumentBuf, document: RawDocumentBuf, expected: &[&str], bits: u64) {
    let index = index(&spec);
    let keys = keys(&index, &document).expect("keys");
    assert_eq!(shown(&index, &keys.keys), expected);
    assert_eq!(keys.arrays.bits, bits, "multikey bits");
}

#[test]
fn plain_values_and_missing_ones() {
    let compound = rawdoc! { "key": { "a": 1, "b.c": -1 } };
    assert_keys(compound.clone(), rawdoc! { "a": 1, "b": { "c": "x" } }, &["1 | \"x\""], 0);
    assert_keys(compound.clone(), rawdoc! { "a": 1, "b": 5 }, &["1 | null"], 0);
    assert_keys(compound, rawdoc! {}, &["null | null"], 0);
    let whole = rawdoc! { "key": { "a": 1 } };
    assert_keys(whole, rawdoc! { "a": { "b": 1 } }, &["{ b: 1 }"], 0);
}

#[test]
fn arrays_give_a_key_an_element() {
    let single = rawdoc! { "key": { "a": 1 } };
    assert_keys(single.clone(), rawdoc! { "a": [3, 1, 3.0] }, &["1", "3"], 1);
    assert_keys(single.clone(), rawdoc! { "a": [] }, &["undefined"], 1);
    assert_keys(single.clone(), rawdoc! { "a": [[1, 2]] }, &["[ 1, 2 ]"], 1);
    let dotted = rawdoc! { "key": { "a.b": 1, "c": 1 } };
    let document = rawdoc! { "a": [{ "b": 2 }, { "b": [1, 5] }, 7, {}], "c": 0 };
    assert_keys(dotted.clone(), document, &["null | 0", "1 | 0", "2 | 0", "5 | 0"], 0b011);
    assert_keys(dotted, rawdoc! { "a": [] }, &["null | null"], 0b001);
}

#[test]
fn one_array_for_two_fields_keeps_elements_together() {
    let spec = rawdoc! { "key": { "a.b": 1, "a.c": 1 } };
    let document = rawdoc! { "a": [{ "b": 1, "c": 2 }, { "b": 3, "c": 4 }] };
    assert_keys(spec, document, &["1 | 2", "3 | 4"], 0b0101);
}

#[test]
fn parallel_arrays_are_refused() {
    let spec = index(&rawdoc! { "key": { "a": 1, "b": 1 } });
    let error = keys(&spec, &rawdoc! { "a": [1], "b": [2] }).unwrap_err();
    assert_eq!(error.code().number(), 171);
}

#[test]
fn numbers_in_paths_are_positions() {
    let spec = rawdoc! { "key": { "a.1": 1 } };
    assert_keys(spec.clone(), rawdoc! { "a": [5, 6] }, &["6"], 0);
    assert_keys(spec.clone(), rawdoc! { "a": { "1": 7 } }, &["7"], 0);
    assert_keys(spec.clone(), rawdoc! { "a": [5] }, &["null"], 0);
    let error = keys(&index(&spec), &rawdoc! { "a": [5, { "1": 2 }] }).unwrap_err();
    assert_eq!(error.code().number(), 16746);
}

#[test]
fn sparse_and_partial_indexes_leave_documents_out() {
    let sparse = rawdoc! { "key": { "a": 1, "b": 1 }, "sparse": true };
    assert_keys(sparse.clone(), rawdoc! { "c": 1 }, &[], 0);
    assert_keys(sparse, rawdoc! { "b": null }, &["null | null"], 0);
    let partial = rawdoc! { "key": { "a": 1 }, "partialFilterExpression": { "b": { "$gt": 5 } } };
    assert_keys(partial.clone(), rawdoc! { "a": 1, "b": 5 }, &[], 0);
    assert_keys(partial, rawdoc! { "a": 1, "b": 6 }, &["1"], 0);
}

#[test]
fn hashes_are_of_equal_values_and_never_of_arrays() {
    let spec = index(&rawdoc! { "key": { "a": "hashed" } });
    let of = |document: RawDocumentBuf| keys(&spec, &document).expect("keys").keys;
    assert_eq!(of(rawdoc! { "a": 5 }), of(rawdoc! { "a": 5.0 }));
    assert_eq!(of(rawdoc! {}), of(rawdoc! { "a": null }));
    assert_ne!(of(rawdoc! { "a": 5 }), of(rawdoc! { "a": "5" }));
    for document in [rawdoc! { "a": [1] }, rawdoc! { "a": [] }] {
        assert_eq!(keys(&spec, &document).unwrap_err().code().number(), 16766);
    }
}

#[test]
fn wildcards_index_every_leaf() {
    let document = rawdoc! { "_id": 1, "a": { "b": [1, { "c": 2 }, [3]] }, "e": {}, "f": [] };
    let all = rawdoc! { "key": { "$**": 1 } };
    let expected =
        ["\"a.b\" | 1", "\"a.b\" | [ 3 ]", "\"a.b.c\" | 2", "\"e\" | {}", "\"f\" | undefined"];
    assert_keys(all, document.clone(), &expected, 0);
    let rooted = rawdoc! { "key": { "a.b.$**": 1 } };
    assert_keys(rooted, document.clone(), &expected[..3], 0);
    let only = rawdoc! { "key": { "$**": 1 }, "wildcardProjection": { "_id": 1, "e": 1 } };
    assert_keys(only, document.clone(), &["\"_id\" | 1", "\"e\" | {}"], 0);
    let within = rawdoc! { "key": { "$**": 1 }, "wildcardProjection": { "a": { "b": 1 } } };
    assert_keys(within, document.clone(), &expected[..3], 0);
    let except = rawdoc! { "key": { "$**": 1 }, "wildcardProjection": { "a": 0 } };
    assert_keys(except, document, &expected[3..], 0);
}

#[test]
fn wildcards_know_the_paths_of_arrays() {
    let spec = index(&rawdoc! { "key": { "$**": 1 } });
    let arrays = |document: RawDocumentBuf| {
        let mut arrays = keys(&spec, &document).expect("keys").arrays;
        arrays.paths.sort();
        (arrays.bits, arrays.paths.join(" "))
    };
    let nested = rawdoc! { "a": { "b": [1, { "c": [2] }, [3]] }, "e": {}, "f": [] };
    assert_eq!(arrays(nested), (0, "a.b a.b.c f".to_owned()));
    let mut many = RawDocumentBuf::new();
    for number in 0..=crate::catalog::ARRAY_PATHS_MAX {
        let name = bson::raw::CString::try_from(format!("a{number}")).expect("a name");
        many.append(name, bson::RawArrayBuf::new());
    }
    assert_eq!(arrays(many), (1, String::new()));
}

#[test]
fn wildcards_stand_beside_other_fields() {
    let spec = rawdoc! { "key": { "x": 1, "a.$**": 1, "y": -1 } };
    let document = rawdoc! { "x": [1, 2], "a": { "b": 5 }, "y": 9 };
    assert_keys(spec.clone(), document, &["1 | \"a.b\" | 5 | 9", "2 | \"a.b\" | 5 | 9"], 0b001);
    assert_keys(spec, rawdoc! { "x": 3 }, &["3 | MinKey | MinKey | null"], 0);
}

#[test]
fn a_write_changes_only_the_keys_that_differ() {
    let spec = index(&rawdoc! { "key": { "a": 1 } });
    let before = rawdoc! { "a": [1, 2, 3], "z": 1 };
    let diff = diff(&spec, &before, &rawdoc! { "a": [2, 4, 3.0] }).expect("a difference");
    let shown = |keys: Vec<value::key::Key>| shown(&spec, &keys);
    // 3 and 3.0 are one key, written again for its type.
    assert_eq!(shown(diff.add), ["3.0", "4"]);
    assert_eq!(shown(diff.remove), ["1"]);
    assert!(untouched(&spec, &before, &rawdoc! { "z": 5, "a": [1, 2, 3] }));
    assert!(!untouched(&spec, &before, &rawdoc! { "a": [1, 2] }));
    let partial =
        index(&rawdoc! { "key": { "a": 1 }, "partialFilterExpression": { "b.c": { "$gt": 5 } } });
    assert!(!untouched(&partial, &before, &rawdoc! { "a": [1, 2, 3], "b": { "c": 6 } }));
    assert!(untouched(&partial, &before, &rawdoc! { "a": [1, 2, 3], "z": 6 }));
}

#[test]
fn a_key_may_have_any_length_and_all_of_them_have_a_greatest() {
    let spec = index(&rawdoc! { "key": { "a": 1, "b": 1 } });
    let long = "x".repeat(1 << 20);
    let document = |elements: i32| {
        let elements: bson::RawArrayBuf = (0..elements).map(bson::RawBson::from).collect();
        rawdoc! { "a": long.as_str(), "b": elements }
    };
    assert_eq!(keys(&spec, &document(200)).unwrap().keys.len(), 200);
    assert_eq!(keys(&spec, &document(300)).unwrap_err().code().number(), 17280);
}
