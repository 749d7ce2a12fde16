//! Random updates of random documents: against a model that works on parsed
//! documents, one operator after the other; and for sound results only.

use super::super::Update;
use super::apply;
use crate::Context;
use crate::query::Matched;
use bson::{Bson, Document, RawBsonRef, RawDocumentBuf, doc};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const NAMES: [&str; 4] = ["a", "b", "0", "1"];

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

fn value(random: &mut StdRng, depth: usize) -> Bson {
    match random.random_range(0..if depth == 0 { 4 } else { 7 }) {
        0 => Bson::Int32(random.random_range(-2..3)),
        1 => Bson::String("x".repeat(random.random_range(0..20))),
        2 => Bson::Null,
        3 => Bson::Double(0.5),
        4 => Bson::Document(document(random, depth - 1)),
        _ => {
            let len = random.random_range(0..4);
            Bson::Array((0..len).map(|_| value(random, depth - 1)).collect())
        }
    }
}

fn document(random: &mut StdRng, depth: usize) -> Document {
    let mut document = Document::new();
    for name in NAMES {
        if random.random_bool(0.5) {
            document.insert(name, value(random, depth));
        }
    }
    document
}

fn path(random: &mut StdRng) -> String {
    let len = random.random_range(1..4);
    let parts: Vec<&str> = (0..len).map(|_| NAMES[random.random_range(0..NAMES.len())]).collect();
    parts.join(".")
}

/// Where a path leads in the model; `Err` is a path that cannot be made.
enum Slot<'m> {
    Field(&'m mut Document, String),
    Item(&'m mut Vec<Bson>, usize),
}

/// Finds the last container on a path, making documents on the way if told to.
fn slot<'m>(document: &'m mut Document, path: &str, make: bool) -> Result<Option<Slot<'m>>, ()> {
    let (parents, name) =
        path.rsplit_once('.').map_or(("", path), |(parents, name)| (parents, name));
    let mut bson: Option<&mut Bson> = None;
    let mut root = Some(document);
    for part in parents.split('.').filter(|part| !part.is_empty()) {
        let next = match (root.take(), bson) {
            (Some(document), _) | (None, Some(Bson::Document(document))) => {
                if !document.contains_key(part) {
                    if !make {
                        return Ok(None);
                    }
                    document.insert(part, Document::new());
                }
                document.get_mut(part)
            }
            (None, Some(Bson::Array(array))) => {
                let index: usize = part.parse().map_err(|_| ())?;
                if index >= array.len() {
                    if !make {
                        return Ok(None);
                    }
                    array.resize(index, Bson::Null);
                    array.push(Bson::Document(Document::new()));
                }
                array.get_mut(index)
            }
            _ => return Err(()),
        };
        bson = next;
    }
    match (root, bson) {
        (Some(document), _) | (None, Some(Bson::Document(document))) => {
            Ok(Some(Slot::Field(document, name.to_owned())))
        }
        (None, Some(Bson::Array(array))) => {
            Ok(Some(Slot::Item(array, name.parse().map_err(|_| ())?)))
        }
        _ => Err(()),
    }
}

/// What the operator does in the model; `Err` is any error.
fn model(document: &mut Document, operator: &str, path: &str, argument: &Bson) -> Result<(), ()> {
    if operator == "$unset" {
        match slot(document, path, false) {
            Ok(Some(Slot::Field(document, name))) => drop(document.remove(name)),
            Ok(Some(Slot::Item(array, at))) if at < array.len() => array[at] = Bson::Null,
            _ => {}
        }
        return Ok(());
    }
    let (old, slot) = match slot(document, path, true)?.ok_or(())? {
        Slot::Field(document, name) => (document.get(&name).cloned(), Slot::Field(document, name)),
        Slot::Item(array, at) => (array.get(at).cloned(), Slot::Item(array, at)),
    };
    let new = match (operator, old) {
        ("$inc", Some(Bson::Int32(old))) => Bson::Int32(old + argument.as_i32().ok_or(())?),
        ("$inc", Some(Bson::Double(old))) => {
            Bson::Double(old + f64::from(argument.as_i32().ok_or(())?))
        }
        ("$push", Some(Bson::Array(mut old))) => {
            old.push(argument.clone());
            Bson::Array(old)
        }
        ("$inc" | "$push", Some(_)) => return Err(()),
        ("$push", None) => Bson::Array(vec![argument.clone()]),
        _ => argument.clone(),
    };
    match slot {
        Slot::Field(document, name) => drop(document.insert(name, new)),
        Slot::Item(array, at) => {
            if at >= array.len() {
                array.resize(at + 1, Bson::Null);
            }
            array[at] = new;
        }
    }
    Ok(())
}

#[test]
fn updates_agree_with_a_naive_model() {
    let mut random = StdRng::seed_from_u64(7);
    let mut applied = 0;
    for _ in 0..20_000 {
        let before = document(&mut random, 3);
        let mut update = Document::new();
        let mut steps = Vec::new();
        for _ in 0..random.random_range(1..4) {
            let operator = ["$set", "$unset", "$inc", "$push"][random.random_range(0..4)];
            let argument = match operator {
                "$inc" => Bson::Int32(random.random_range(-1..3)),
                _ => value(&mut random, 1),
            };
            // The same path twice is a conflict, whatever the model would do.
            let path = path(&mut random);
            let fields = update.entry(operator.to_owned()).or_insert_with(|| doc! {}.into());
            let Bson::Document(fields) = fields else { panic!("not a document") };
            if fields.insert(path.clone(), argument.clone()).is_none() {
                steps.push((path, operator, argument));
            } else {
                steps.retain(|(other, kind, _)| !(*other == path && *kind == operator));
                steps.push((path, operator, argument));
            }
        }
        let after = apply(&raw(&before), &raw(&update));
        if matches!(&after, Err(error) if error.code().number() == 40) {
            continue;
        }
        steps.sort_by(|a, b| a.0.cmp(&b.0));
        let mut expected = before.clone();
        let outcome = steps.iter().try_for_each(|(path, operator, argument)| {
            model(&mut expected, operator, path, argument)
        });
        match (after, outcome) {
            (Ok(after), Ok(())) => {
                let after = after.unwrap_or_else(|| raw(&before));
                assert_eq!(after, raw(&expected), "{before} {update}");
                applied += 1;
            }
            (Err(_), Err(())) => {}
            (after, outcome) => panic!("{before} {update}: {after:?}, model {outcome:?}"),
        }
    }
    assert!(applied > 5_000, "only {applied} updates went through");
}

#[test]
fn whatever_is_sent_gives_a_sound_document_or_an_error() {
    let mut random = StdRng::seed_from_u64(11);
    let operators: Vec<&str> = super::super::operators::TABLE.iter().map(|row| row.name).collect();
    for _ in 0..20_000 {
        let before = document(&mut random, 3);
        let mut update = Document::new();
        for _ in 0..random.random_range(1..4) {
            let mut path = path(&mut random);
            if random.random_bool(0.3) {
                let dynamic = [".$", ".$[]", ".$[].a", ".$.b"][random.random_range(0..4)];
                path.push_str(dynamic);
            }
            let argument = match random.random_range(0..5) {
                0 => Bson::Document(doc! { "$each": [value(&mut random, 1)], "$sort": 1 }),
                1 => Bson::String(self::path(&mut random)),
                2 => Bson::Int32(1),
                3 => Bson::Document(doc! { "or": 1 }),
                _ => value(&mut random, 2),
            };
            let operator = operators[random.random_range(0..operators.len())];
            update.insert(operator, doc! { path: argument });
        }
        let (before, update) = (raw(&before), raw(&update));
        let Ok(parsed) = Update::parse(RawBsonRef::Document(&update), None, &Context::new()) else {
            continue;
        };
        let element = random.random_bool(0.5).then_some(1);
        if let Ok(Some(after)) = parsed.apply(&before, Matched { element }) {
            let checked = value::check::document(after.as_bytes(), value::check::DEPTH_MAX);
            assert_eq!(checked.unwrap().as_bytes().len(), after.as_bytes().len(), "{update:?}");
        }
    }
}
