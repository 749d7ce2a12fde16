//! The language against a naive one: random filters and updates on random documents; and the same
//! filters through indexes of several kinds and through a scan.

use bson::{Bson, Document, RawBsonRef, RawDocumentBuf, doc};
use freeboard_tests::Result;
use language::Context;
use language::query::{Filter, Matched};
use language::update::Update;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use crate::history::Step;
use crate::place::Place;
use crate::{changer, generate, matcher, number};

const ROUNDS: u64 = 20_000;
/// How deep documents and filters nest.
const DEPTH: usize = 3;

const SERVED_SEEDS: std::ops::Range<u64> = 0..3;
const SERVED_DOCUMENTS: i32 = 60;
const SERVED_FILTERS: usize = 150;

/// Every round has a seed of its own, which a failure names.
fn rounds() -> Vec<u64> {
    match number("FREEBOARD_MODEL_SEED") {
        Some(seed) => vec![seed],
        None => (0..ROUNDS).collect(),
    }
}

fn raw(document: &Document) -> Result<RawDocumentBuf> {
    Ok(RawDocumentBuf::try_from(document)?)
}

#[test]
fn filters_match_as_the_naive_matcher_says() -> Result<()> {
    let mut matched = 0;
    let rounds = rounds();
    for seed in &rounds {
        let mut random = StdRng::seed_from_u64(*seed);
        let document = generate::document(&mut random, DEPTH);
        let filter = generate::filter(&mut random, DEPTH - 1);
        let expected = matcher::matches(&document, &filter);
        let parsed = Filter::parse(&raw(&filter)?, &Context::new())
            .map_err(|error| format!("seed {seed}: {filter} is refused: {error}"))?;
        if parsed.matches(&raw(&document)?)? != expected {
            return Err(format!("seed {seed}: {filter} on {document} should be {expected}").into());
        }
        matched += usize::from(expected);
    }
    // A test in which nothing matches tests nothing.
    if rounds.len() > 1 && !(rounds.len() / 10..rounds.len() * 9 / 10).contains(&matched) {
        return Err(format!("{matched} of {} match", rounds.len()).into());
    }
    Ok(())
}

#[test]
fn updates_change_what_the_naive_changer_changes() -> Result<()> {
    let mut applied = 0;
    let rounds = rounds();
    for seed in &rounds {
        let mut random = StdRng::seed_from_u64(*seed);
        let before = generate::document(&mut random, DEPTH);
        let (update, steps) = update(&mut random);
        let outcome = applied_by_the_language(&before, &update)?;
        let Some(actual) = outcome else { continue };
        let mut expected = Some(before.clone());
        for (operator, path, argument) in &steps {
            expected = expected.and_then(|mut document| {
                changer::change(&mut document, operator, path, argument).ok().map(|()| document)
            });
        }
        // As text, in which NaN is equal to NaN and types are told apart.
        if format!("{actual:?}") != format!("{expected:?}") {
            let words = format!("expected {expected:?}\nactual   {actual:?}");
            return Err(format!("seed {seed}: {update} on {before}\n{words}").into());
        }
        applied += usize::from(actual.is_some());
    }
    if rounds.len() > 1 && applied < rounds.len() / 4 {
        return Err(format!("only {applied} of {} went through", rounds.len()).into());
    }
    Ok(())
}

type Modifier = (&'static str, String, Bson);

/// An update, and its operators in the order in which they make fields.
fn update(random: &mut StdRng) -> (Document, Vec<Modifier>) {
    let mut steps: Vec<Modifier> = Vec::new();
    for _ in 0..random.random_range(1..4) {
        let modifier = generate::modifier(random);
        if !steps.iter().any(|(_, path, _)| *path == modifier.1) {
            steps.push(modifier);
        }
    }
    let mut update = Document::new();
    for (operator, path, argument) in &steps {
        let fields = update.entry((*operator).to_owned()).or_insert_with(|| doc! {}.into());
        if let Bson::Document(fields) = fields {
            fields.insert(path.clone(), argument.clone());
        }
    }
    steps.sort_by(|left, right| left.1.cmp(&right.1));
    (update, steps)
}

/// The document after the update, `None` for an error; nothing at all where the paths conflict,
/// which is not a question of what operators do.
fn applied_by_the_language(
    before: &Document,
    update: &Document,
) -> Result<Option<Option<Document>>> {
    let (before, update) = (raw(before)?, raw(update)?);
    let parsed = Update::parse(RawBsonRef::Document(&update), None, &Context::new());
    let outcome = parsed.and_then(|update| update.apply(&before, Matched::default()));
    match outcome {
        Ok(after) => Ok(Some(Some(Document::try_from(after.unwrap_or(before))?))),
        Err(error) if error.code().number() == 40 => Ok(None),
        Err(_) => Ok(Some(None)),
    }
}

#[test]
fn filters_find_the_same_by_scan_and_by_index() -> Result<()> {
    match number("FREEBOARD_MODEL_SEED") {
        Some(seed) => served(seed),
        None => SERVED_SEEDS.into_iter().try_for_each(served),
    }
}

/// The collections and their indexes. Each index has one field, since two of a document may be
/// arrays, and none names a position, which elements with such a name would make ambiguous.
fn collections() -> Vec<(&'static str, Vec<Document>)> {
    let index =
        |path: &str, sparse: bool| doc! { "key": { path: 1 }, "name": path, "sparse": sparse };
    vec![
        ("scan", vec![]),
        ("fields", ["a", "b", "a.b", "b.c.a"].iter().map(|path| index(path, false)).collect()),
        ("sparse", ["a", "b", "a.b", "c"].iter().map(|path| index(path, true)).collect()),
        ("wildcard", vec![doc! { "key": { "$**": 1 }, "name": "all" }]),
    ]
}

fn served(seed: u64) -> Result<()> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut place = Place::start()?;
    let mut documents = Vec::new();
    for id in 0..SERVED_DOCUMENTS {
        let mut document = doc! { "_id": id };
        document.extend(generate::document(&mut random, DEPTH));
        documents.push(document);
    }
    for (collection, indexes) in collections() {
        if !indexes.is_empty() {
            place.create_indexes(collection, &indexes)?;
        }
        for document in &documents {
            let outcome = place.apply(collection, &Step::Insert(document.clone()))?;
            if outcome != [doc! { "n": 1 }] {
                return Err(format!("{collection} does not take {document}: {outcome:?}").into());
            }
        }
    }
    for round in 0..SERVED_FILTERS {
        let filter = generate::filter(&mut random, 1);
        let found = |documents: &[Document]| -> Vec<i32> {
            documents.iter().filter_map(|document| document.get_i32("_id").ok()).collect()
        };
        let expected = documents.iter().filter(|document| matcher::matches(document, &filter));
        let expected = found(&expected.cloned().collect::<Vec<Document>>());
        for (collection, _) in collections() {
            let find = Step::Find(filter.clone(), doc! { "_id": 1 }, 0, 0);
            let actual = found(&place.apply(collection, &find)?);
            if actual != expected {
                let words = format!("expected {expected:?}\nactual   {actual:?}");
                return Err(format!(
                    "seed {seed}, filter {round}, {collection}: {filter}\n{words}"
                )
                .into());
            }
        }
    }
    Ok(())
}
