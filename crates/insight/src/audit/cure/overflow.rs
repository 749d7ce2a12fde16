//! How an array is to overflow: chosen by how it is used, with the reasons.

use super::usage::Usage;
use super::{HEAD_ELEMENTS_MAX, head_elements, head_room, rounded};
use crate::audit::census::ArrayCensus;
use crate::audit::detectors::Subject;
use crate::audit::facts::End;
use crate::figures::{count, counted};
use serde_json::{Value, json};

/// A rule of a policy, and why it says what it says.
pub struct Chosen {
    pub rule: Value,
    pub why: Vec<String>,
}

pub fn choose(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Chosen {
    let usage = Usage::of(subject, path, array);
    let usual = head_elements(array);
    let room = head_room(subject, array).max(1);
    let wanted = usual.max(rounded(usage.taken));
    let max = wanted.min(room);
    let mut rule = json!({ "max": max, "on_limit": "overflow" });
    if usage.end() == Some(End::Last)
        && let Some(rule) = rule.as_object_mut()
    {
        rule.insert("overflow".to_owned(), json!({ "keep": "newest" }));
    }
    // The pages are called by the path, and no name of a collection has a `$`.
    if path.contains('$')
        && let Some(rule) = rule.as_object_mut()
    {
        let collection = &subject.collection.namespace.collection;
        let last = path.replace('.', "_").replace('$', "");
        let into = Value::from(subject.free_name(&format!("{collection}_{last}")));
        let overflow = rule.entry("overflow").or_insert_with(|| json!({}));
        overflow.as_object_mut().map(|overflow| overflow.insert("into".to_owned(), into));
    }
    let why_max = match max < wanted {
        true => format!("max: {}, since an element is large", count(max)),
        false => why_max(&usage, max, usual),
    };
    Chosen { rule, why: vec![why_max, why_keep(&usage), why_read(&usage)] }
}

fn why_max(usage: &Usage, max: u64, usual: u64) -> String {
    let max = count(max);
    match usage.taken {
        0 if usual == HEAD_ELEMENTS_MAX => format!("max: {max}, the most that is advised"),
        0 => format!("max: {max}, which nine of ten arrays keep already"),
        taken if taken > HEAD_ELEMENTS_MAX => {
            format!(
                "max: {max}, the most that is advised; reads take {}",
                counted(taken, "element")
            )
        }
        taken => {
            format!("max: {max}, which holds the {} that reads take", counted(taken, "element"))
        }
    }
}

fn why_keep(usage: &Usage) -> String {
    let Usage { reads, first, last, .. } = usage;
    let some = |which: u64| {
        format!("{} of {} that see it", count(which), counted(*reads, "profiled read"))
    };
    match usage.end() {
        Some(End::Last) if last > first => {
            format!("keep: newest, since {} take its last elements", some(*last))
        }
        Some(End::First) if first > last => {
            format!("keep: oldest, since {} take its first elements", some(*first))
        }
        Some(End::Last) => {
            "keep: newest, since its elements carry dates and the latest stand last".to_owned()
        }
        Some(End::First) => {
            "keep: oldest, since its elements carry dates and the latest stand first".to_owned()
        }
        None => "keep: oldest, the default: nothing shows which end is read".to_owned(),
    }
}

/// A cure changes no answer, so reads stay whole whatever they ask for.
fn why_read(usage: &Usage) -> String {
    let Usage { reads, whole, filtered, sorted, .. } = usage;
    let mut uses = Vec::new();
    if *filtered > 0 {
        uses.push(format!("{} by its elements", counted(*filtered, "profiled filter")));
    }
    if *sorted > 0 {
        uses.push(format!("{} by them", counted(*sorted, "sort")));
    }
    if *whole > 0 {
        let of = counted(*reads, "profiled read");
        uses.push(format!("{} of {of} that see it and send all of it", count(*whole)));
    }
    match uses.is_empty() {
        true => "read: merged, the default: no answer changes".to_owned(),
        false => format!("read: merged, for the sake of {}", uses.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::audit::Target;
    use crate::audit::detectors::fixture::{DAY, Fixture, NOW};
    use crate::audit::facts::Operation;
    use crate::report::{Cure, Finding, Remedy};
    use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
    use serde_json::{Value, json};

    /// A hundred documents, of which one has an array of 2,000 elements.
    fn fixture(element: impl Fn(i64) -> Document) -> Fixture {
        let document = |id: i64| {
            let length = if id == 99 { 2_000 } else { 8 };
            let items: Vec<Bson> = (0..length).map(|at| element(at).into()).collect();
            RawDocumentBuf::try_from(&doc! { "_id": id, "acts": items }).unwrap()
        };
        let mut fixture = Fixture::new((0..100).map(document));
        fixture.target = Target::Freeboard;
        fixture
    }

    fn cure(fixture: &Fixture) -> Cure {
        let is_array = |it: &Finding| it.detector == "unbounded_array";
        fixture.all().into_iter().find(is_array).unwrap().cure
    }

    fn rule(cure: &Cure) -> Value {
        match &cure.remedy {
            Remedy::Policy(policy) => policy["collections"]["things"]["arrays"]["acts"].clone(),
            Remedy::Command(command) => panic!("{command}"),
        }
    }

    fn find(filter: Document, projection: Document) -> Operation {
        Operation {
            namespace: "shop.things".to_owned(),
            command: "find".to_owned(),
            filter,
            projection,
            count: 40,
            ..Operation::default()
        }
        .with_taken()
    }

    #[test]
    fn pages_have_a_name_whatever_the_array_is_called() {
        let items: Vec<Bson> = (0..2_000).map(Bson::from).collect();
        let document = doc! { "_id": 1, "it$s \"q\"": items };
        let mut fixture = Fixture::new([RawDocumentBuf::try_from(&document).unwrap()]);
        fixture.target = Target::Freeboard;
        let found = fixture.all();
        let Remedy::Policy(policy) = &found[0].cure.remedy else { panic!() };
        let rule = &policy["collections"]["things"]["arrays"]["it$s \"q\""];
        assert_eq!(rule["overflow"]["into"], json!("things_its \"q\""));
    }

    #[test]
    fn few_large_elements_stay() {
        let items: Vec<Bson> = vec![Bson::from("x".repeat(3 << 20)); 4];
        let document = RawDocumentBuf::try_from(&doc! { "_id": 1, "acts": items }).unwrap();
        let mut fixture = Fixture::new([document]);
        let found = |fixture: &Fixture| {
            let found = fixture.all();
            found.into_iter().find(|it| it.detector == "massive_document").unwrap().cure
        };
        assert!(found(&fixture).seen.unwrap().contains("finds will show 0 of 4 elements"));
        fixture.target = Target::Freeboard;
        assert_eq!(rule(&found(&fixture)), json!({ "max": 1, "on_limit": "overflow" }));
    }

    #[test]
    fn without_any_sign_the_defaults_are_proposed() {
        let cure = cure(&fixture(|at| doc! { "n": at }));
        assert_eq!(rule(&cure), json!({ "max": 10, "on_limit": "overflow" }));
        assert_eq!(
            cure.why,
            [
                "max: 10, which nine of ten arrays keep already",
                "keep: oldest, the default: nothing shows which end is read",
                "read: merged, the default: no answer changes",
            ]
        );
        assert_eq!(
            cure.seen.unwrap(),
            "before: reads show all of up to 2,000 elements; after: reads stay as they are, up to \
             16 MB a document; 10 of 2,000 elements in the longest stay in it"
        );
    }

    #[test]
    fn what_reads_take_stays_in_the_document() {
        let fixture = fixture(|at| doc! { "n": at }).operations([
            find(doc! {}, doc! { "acts": { "$slice": -30 } }),
            find(doc! { "acts.n": 5 }, doc! {}),
        ]);
        let cure = cure(&fixture);
        let expected =
            json!({ "max": 50, "on_limit": "overflow", "overflow": { "keep": "newest" } });
        assert_eq!(rule(&cure), expected);
        assert_eq!(
            cure.why,
            [
                "max: 50, which holds the 30 elements that reads take",
                "keep: newest, since 40 of 80 profiled reads that see it take its last elements",
                "read: merged, for the sake of 40 profiled filters by its elements, 40 of 80 \
                 profiled reads that see it and send all of it",
            ]
        );
    }

    #[test]
    fn dates_say_where_the_latest_elements_are() {
        let dated = |step: i64| {
            cure(&fixture(|at| doc! { "at": DateTime::from_millis(NOW - DAY * 400 + step * at) }))
        };
        let (appended, prepended) = (dated(1_000), dated(-1_000));
        assert_eq!(rule(&appended)["overflow"], json!({ "keep": "newest" }));
        assert!(appended.why[1].ends_with("the latest stand last"), "{:?}", appended.why);
        assert_eq!(rule(&prepended)["overflow"], Value::Null);
        assert!(prepended.why[1].ends_with("the latest stand first"), "{:?}", prepended.why);
        // Reads count for more than dates.
        let sliced = fixture(|at| doc! { "at": DateTime::from_millis(NOW - DAY * 400 + at) })
            .operations([find(doc! {}, doc! { "acts": { "$slice": 5 } })]);
        assert_eq!(rule(&cure(&sliced))["overflow"], Value::Null);
    }

    #[test]
    fn a_script_says_what_is_left_to_see() {
        let mut fixture = fixture(|at| doc! { "n": at, "text": "x".repeat(5_000) });
        fixture.target = Target::AzureDocumentDb;
        let seen = cure(&fixture).seen.unwrap();
        assert!(seen.contains("after: finds will show 10 of 2,000 elements"), "{seen}");
    }
}
