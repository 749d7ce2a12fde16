//! Random updates of guarded arrays against the same updates of plain ones.

use bson::{Bson, Document, RawArrayBuf, RawBson, RawDocumentBuf, doc};
use language::update::Update;
use language::{Context, Needs};
use naive::Memory;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use write::Returns;

const STEPS: usize = 150;
/// The code of what would go wrong silently.
const REFUSED: i32 = 96;
/// The code of what would pass a bound.
const OVER: i32 = 121;
/// A second array that overflows, in the same document.
const BESIDE: &str = "b";

/// The same document twice: in `guarded` under a policy, and in `plain`.
struct Twins {
    memory: Memory,
    /// The array that most is about.
    path: &'static str,
    keep: &'static str,
    read: &'static str,
    /// Whether the policy names what counts its arrays.
    named: bool,
    bounds: Document,
    total: Option<Total>,
}

/// The bounds of the whole array.
#[derive(Clone, Copy)]
struct Total {
    max: Option<usize>,
    bytes: Option<usize>,
    drops: bool,
}

const TOTALS: [Option<Total>; 6] = [
    None,
    Some(Total { max: Some(12), bytes: None, drops: false }),
    Some(Total { max: Some(12), bytes: None, drops: true }),
    Some(Total { max: None, bytes: Some(190), drops: true }),
    Some(Total { max: None, bytes: Some(190), drops: false }),
    Some(Total { max: Some(9), bytes: Some(150), drops: true }),
];

/// An update and its array filters.
struct Step {
    update: Bson,
    filters: Option<Vec<Document>>,
}

#[tokio::test]
async fn guarded_arrays_are_what_plain_ones_are() {
    let mut seed = 0;
    for (keep, read, named) in [
        ("oldest", "head", true),
        ("oldest", "merged", false),
        ("newest", "head", true),
        ("newest", "merged", false),
        ("newest", "merged", true),
    ] {
        for path in ["s.a", "a"] {
            for bounds in [
                doc! { "max": 3, "page": 2, "page_bytes": 4096 },
                doc! { "max": 5, "page": 4, "page_bytes": 160 },
                doc! { "max": 8, "max_bytes": 70, "page": 100, "page_bytes": 200 },
                doc! { "max": 1, "page": 1, "page_bytes": 4096 },
            ] {
                for total in TOTALS {
                    seed += 1;
                    let bounds = bounds.clone();
                    Twins::new(path, keep, (read, named), bounds, total).await.live(seed).await;
                }
            }
        }
    }
}

impl Twins {
    async fn new(
        path: &'static str,
        keep: &'static str,
        (read, named): (&'static str, bool),
        bounds: Document,
        total: Option<Total>,
    ) -> Twins {
        let mut rule = doc! { "max": bounds.get_i32("max").unwrap(), "on_limit": "overflow" };
        if let Some(bytes) = bounds.get("max_bytes") {
            rule.insert("max_bytes", bytes.clone());
        }
        let mut overflow = doc! {
            "into": "pages", "parent_key": "of", "keep": keep, "read": read,
            "page": bounds.get("page").unwrap().clone(),
            "page_bytes": bounds.get("page_bytes").unwrap().clone(),
        };
        if let Some(total) = total {
            let on_total = if total.drops { "drop_oldest" } else { "reject" };
            overflow.insert("on_total", on_total);
            let bounds = [("total_max", total.max), ("total_bytes", total.bytes)];
            let bounds = bounds.into_iter().filter_map(|(key, bound)| Some((key, bound?)));
            overflow.extend(bounds.map(|(key, bound)| (key.to_owned(), Bson::from(bound as i32))));
        }
        rule.insert("overflow", overflow);
        let beside = doc! {
            "max": 2, "on_limit": "overflow",
            "overflow": { "into": "others", "page": 3, "keep": keep, "read": read },
        };
        let policy = doc! { "arrays": { path: rule, BESIDE: beside } };
        let policy = if named { crate::named(raw(&policy)) } else { raw(&policy) };
        let memory = Memory::with_policy("guarded", &policy);
        let start = match path {
            "a" => doc! { "_id": 1, "a": [1, 2], "n": 0 },
            _ => doc! { "_id": 1, "s": { "a": [1, 2] }, "n": 0 },
        };
        for collection in ["guarded", "plain"] {
            memory.insert(collection, &raw(&start)).await.unwrap();
        }
        Twins { memory, path, keep, read, named, bounds, total }
    }

    async fn live(mut self, seed: u64) {
        let mut random = StdRng::seed_from_u64(seed);
        for number in 0..STEPS {
            let len = self.plain(self.path).map_or(0, |items| items.len());
            let step = match self.read == "merged" && random.random_range(0..6) == 0 {
                true => whole_step(&mut random, self.path),
                false => step(&mut random, self.path, len),
            };
            let step = with_second(&mut random, step);
            let filter = self.filter(&mut random);
            let case = format!(
                "seed {seed}, step {number}, where {filter}: {} {:?}",
                step.update, step.filters
            );
            self.memory.conflict_after = random.random_range(0..4);
            let guarded = self.apply("guarded", &filter, &step).await;
            if guarded == Err(REFUSED) && self.may_be_refused(&step) {
                continue;
            }
            let before = self.memory.documents("plain").remove(0);
            let plain = self.apply("plain", &filter, &step).await;
            assert_eq!(guarded, self.within_total(&before, plain).await, "{case}");
            check(&self, self.path, "pages", &self.bounds, &case);
            let beside = doc! { "max": 2, "page": 3, "page_bytes": 32_768 };
            check(&self, BESIDE, "others", &beside, &case);
        }
    }

    /// What becomes of the plain array under the bounds of the whole, and of the reply.
    async fn within_total(&self, before: &RawDocumentBuf, outcome: Outcome) -> Outcome {
        let (Some(total), Some(array)) = (self.total, self.plain(self.path)) else {
            return outcome;
        };
        if total.holds(&array) {
            return outcome;
        }
        if !total.drops {
            self.change_plain(&Bson::Document(Document::try_from(&**before).unwrap())).await;
            return outcome.and(Err(OVER));
        }
        let kept = (0..=array.len()).map(|at| &array[at..]).find(|rest| total.holds(rest));
        let kept = kept.unwrap_or_default().to_vec();
        self.change_plain(&doc! { "$set": { self.path: kept.clone() } }.into()).await;
        outcome.map(|(modified, arrays)| (modified, arrays.map(|[_, beside]| [Some(kept), beside])))
    }

    async fn change_plain(&self, update: &Bson) {
        let spec = RawBson::try_from(update.clone()).unwrap();
        let update = Update::parse(spec.as_raw_bson_ref(), None, &Context::new()).unwrap();
        let filter = raw(&doc! { "_id": 1 });
        self.memory.change("plain", &filter, &update, None, false).await.unwrap();
    }

    /// Whether what the head shows would lead a client astray.
    fn may_be_refused(&self, step: &Step) -> bool {
        let Bson::Document(update) = &step.update else { return false };
        let fields = || update.values().filter_map(Bson::as_document).flatten();
        let empties = |(path, value): (&String, &Bson)| {
            path == self.path && value.as_array().is_some_and(Vec::is_empty)
        };
        let is_number = |name: &str| name.bytes().all(|it| it.is_ascii_digit());
        let numbered = |path: &str| path.split('.').any(is_number);
        self.read == "head"
            && (fields().any(empties)
                || (self.keep == "newest" && fields().any(|(path, _)| numbered(path))))
    }

    /// The document, by what filters may see of it.
    fn filter(&self, random: &mut StdRng) -> Document {
        match random.random_range(0..4) {
            0 if self.read == "merged" => {
                doc! { self.path: { "$gte": random.random_range(0..14) } }
            }
            1 if self.read == "merged" => doc! { BESIDE: random.random_range(0..12) },
            _ => doc! { "_id": 1 },
        }
    }

    /// The code of the error; or how many were modified, and what is seen of the arrays.
    async fn apply(&self, collection: &str, filter: &Document, step: &Step) -> Outcome {
        let spec = RawBson::try_from(step.update.clone()).unwrap();
        let filters = step.filters.as_ref().map(|filters| filters.iter().map(raw));
        let filters = filters.map(|filters| filters.collect::<RawArrayBuf>());
        let update =
            Update::parse(spec.as_raw_bson_ref(), filters.as_deref(), &Context::new()).unwrap();
        let returns = Returns { needs: Needs::All, projection: None, after: true };
        let updated =
            self.memory.change(collection, &raw(filter), &update, Some(returns), false).await;
        let updated = updated.map_err(|error| error.code().number())?;
        let shown = updated.touched.and_then(|touched| touched.document);
        let arrays = shown
            .filter(|_| self.read == "merged")
            .map(|shown| [self.path, BESIDE].map(|path| sequence(&shown, path)));
        Ok((updated.modified, arrays))
    }

    fn plain(&self, path: &str) -> Option<Vec<Bson>> {
        sequence(&self.memory.documents("plain")[0], path)
    }
}

impl Total {
    fn holds(&self, array: &[Bson]) -> bool {
        let bytes = raw(&doc! { "": array.to_vec() }).as_bytes().len() - 7;
        self.max.is_none_or(|max| array.len() <= max) && self.bytes.is_none_or(|most| bytes <= most)
    }
}

type Outcome = Result<(u64, Option<[Option<Vec<Bson>>; 2]>), i32>;

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

/// The same step, and sometimes something for the second array.
fn with_second(random: &mut StdRng, mut step: Step) -> Step {
    let second = match random.random_range(0..12) {
        0 | 1 => ("$push", doc! { "$each": values(random, 4) }.into()),
        2 => ("$pull", Bson::Int32(random.random_range(0..12))),
        3 => ("$pop", Bson::Int32(-1)),
        4 => ("$addToSet", value(random)),
        _ => return step,
    };
    if let Bson::Document(update) = &mut step.update
        && update.keys().all(|key| key.starts_with('$'))
    {
        let (operator, argument) = second;
        let mut fields = update.get_document(operator).cloned().unwrap_or_default();
        fields.insert(BESIDE, argument);
        update.insert(operator, fields);
    }
    step
}

fn value(random: &mut StdRng) -> Bson {
    match random.random_range(0..6) {
        0 => Bson::String("x".repeat(random.random_range(0..60))),
        _ => Bson::Int32(random.random_range(0..12)),
    }
}

fn values(random: &mut StdRng, most: usize) -> Vec<Bson> {
    (0..random.random_range(0..=most)).map(|_| value(random)).collect()
}

/// An update of the array as one value, which is the whole of it where it is read so.
fn whole_step(random: &mut StdRng, path: &str) -> Step {
    let set = |value: Bson| Bson::Array(vec![doc! { "$set": { path: value } }.into()]);
    let field = format!("${path}");
    let above = |array: Vec<Bson>| match path {
        "a" => doc! { "a": array },
        _ => doc! { "s": { "a": array } },
    };
    let update = match random.random_range(0..12) {
        0 => doc! { "$set": { path: values(random, 20) } }.into(),
        1 => doc! { "$set": above(values(random, 20)) }.into(),
        2 => {
            let mut replacement = above(values(random, 20));
            replacement.insert("n", 0);
            replacement.into()
        }
        3 | 4 => doc! { "$max": { path: values(random, 20) } }.into(),
        5 | 6 => doc! { "$min": { path: values(random, 20) } }.into(),
        7 => doc! { "$max": { path: values(random, 2) }, "$inc": { "n": 1 } }.into(),
        8 => set(doc! { "$concatArrays": [values(random, 4), field, values(random, 4)] }.into()),
        9 => set(doc! { "$slice": [field, random.random_range(1..9)] }.into()),
        10 => set(doc! { "$size": { "$ifNull": [field, []] } }.into()),
        _ => set(values(random, 20).into()),
    };
    Step { update, filters: None }
}

fn step(random: &mut StdRng, path: &str, len: usize) -> Step {
    let mut filters = None;
    let at = random.random_range(0..=len + 2);
    let update = match random.random_range(0..24) {
        0..=5 => doc! { "$push": { path: value(random) } },
        6 | 7 => doc! { "$push": { path: { "$each": values(random, 9) } } },
        8 => {
            let at = if random.random_bool(0.5) { 0 } else { at as i32 - 2 };
            doc! { "$push": { path: { "$each": values(random, 3), "$position": at } } }
        }
        9 => doc! { "$push": { path: { "$each": values(random, 3), "$sort": 1 } } },
        10 => {
            let slice = random.random_range(-12..20);
            let mut push = doc! { "$each": values(random, 3), "$slice": slice };
            if random.random_bool(0.5) {
                push.insert("$position", 0);
            }
            doc! { "$push": { path: push } }
        }
        11 => doc! { "$pull": { path: value(random) } },
        12 => doc! { "$pull": { path: { "$lt": random.random_range(0..4) } } },
        13 => doc! { "$pullAll": { path: values(random, 3) } },
        14 => doc! { "$pop": { path: 1 } },
        15 => doc! { "$pop": { path: -1 } },
        16 => doc! { "$addToSet": { path: { "$each": values(random, 4) } } },
        17 => doc! { "$set": { format!("{path}.$[]"): value(random) } },
        18 => {
            filters = Some(vec![doc! { "it": { "$gt": random.random_range(4..12) } }]);
            doc! { "$set": { format!("{path}.$[it]"): value(random) }, "$inc": { "n": 1 } }
        }
        19 => doc! { "$set": { format!("{path}.{at}"): value(random) } },
        20 => doc! { "$unset": { format!("{path}.{at}"): 1 }, "$inc": { "n": 1 } },
        21 => {
            doc! { "$set": { format!("{path}.0"): value(random), format!("{path}.{}", at.max(1)): value(random) } }
        }
        22 => doc! { "$inc": { "n": 1, "s.b": 1 } },
        _ => match random.random_range(0..8) {
            0 => doc! { "$set": { path: [] } },
            1 => doc! { "$unset": { path: 1 } },
            2 => doc! { "$unset": { "s": 1 } },
            _ => doc! { "$push": { path: { "$each": values(random, 30) } } },
        },
    };
    Step { update: update.into(), filters }
}

/// The array at a path of a document, if it has one.
fn sequence(document: &RawDocumentBuf, path: &str) -> Option<Vec<Bson>> {
    let document = Document::try_from(&**document).unwrap();
    holder(&document, path)?.get_array(last(path)).ok().cloned()
}

/// What holds the field that a path ends with.
fn holder<'d>(document: &'d Document, path: &str) -> Option<&'d Document> {
    match path.split_once('.') {
        Some((above, _)) => document.get_document(above).ok(),
        None => Some(document),
    }
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap()
}

/// Head and pages make the plain array, and every counter and bound is kept.
fn check(twins: &Twins, path: &str, pages: &str, bounds: &Document, case: &str) {
    let plain = twins.plain(path);
    let guarded = twins.memory.documents("guarded").remove(0);
    let pages = twins.memory.documents(pages);
    let mut numbered: Vec<(i32, Vec<Bson>)> = Vec::new();
    for page in &pages {
        let size = page.as_bytes().len();
        let page = Document::try_from(&**page).unwrap();
        let items = page.get_array(last(path)).unwrap().clone();
        assert_eq!(page.get_i32("count").unwrap() as usize, items.len(), "{case}");
        assert!(!items.is_empty() && items.len() <= int(bounds, "page"), "{case}");
        assert!(items.len() == 1 || size <= int(bounds, "page_bytes"), "{case}");
        numbered.push((page.get_i32("page").unwrap(), items));
    }
    numbered.sort_by_key(|(number, _)| *number);
    let head = sequence(&guarded, path);
    let paged = numbered.into_iter().flat_map(|(_, items)| items);
    let whole: Option<Vec<Bson>> = head.clone().map(|head| match twins.keep {
        "oldest" => head.into_iter().chain(paged).collect(),
        _ => paged.chain(head).collect(),
    });
    assert_eq!(whole, plain, "{case}");
    assert!(head.is_none_or(|head| head.len() <= int(bounds, "max")), "{case}");
    let guarded = Document::try_from(&*guarded).unwrap();
    check_sidecar(twins, path, &plain.clone().unwrap_or_default(), &pages, case);
    if !twins.named {
        return check_fields(twins, case);
    }
    let counters = holder(&guarded, path).cloned().unwrap_or_default();
    let counter = |name: &str| counters.get(format!("{}{name}", last(path))).cloned();
    let count = plain.map(|plain| Bson::Int32(plain.len() as i32));
    assert_eq!(counter("Count"), count, "{case}");
    let more = (!pages.is_empty()).then_some(Bson::Boolean(true));
    assert_eq!(counter("HasOverflow"), more, "{case}");
    let number = (!pages.is_empty()).then_some(Bson::Int32(pages.len() as i32));
    assert_eq!(counter("OverflowPages"), number, "{case}");
}

fn int(bounds: &Document, key: &str) -> usize {
    bounds.get_i32(key).unwrap() as usize
}

/// The sidecar says what is not said elsewhere of arrays with pages.
fn check_sidecar(twins: &Twins, path: &str, all: &[Bson], pages: &[RawDocumentBuf], case: &str) {
    let sidecar = twins.memory.sidecars("guarded").remove(0);
    let sidecar = sidecar.map(|sidecar| Document::try_from(&*sidecar).unwrap());
    assert!(sidecar.as_ref().is_none_or(|sidecar| !sidecar.is_empty()), "{case}");
    let mut kept = sidecar.and_then(|sidecar| sidecar.get_document(path).ok().cloned());
    let total = twins.total.filter(|_| path == twins.path);
    let numbers = pages.iter().map(|page| page.get_i32("page").unwrap());
    if let Some(first) = kept.as_mut().and_then(|kept| kept.remove("first")) {
        let first = first.as_i32().unwrap();
        assert!(total.is_some_and(|total| total.drops), "{case}");
        assert!(numbers.into_iter().all(|number| number >= first), "{case}");
    }
    let mut expected = doc! { "n": all.len() as i32, "pages": pages.len() as i32 };
    let is_weighed = twins.read == "merged" || total.is_some_and(|total| total.bytes.is_some());
    if is_weighed {
        // Each alone, without the length and the end of its document, its type and its key.
        let bytes = |item: &Bson| raw(&doc! { "": item.clone() }).as_bytes().len() - 7;
        expected.insert("bytes", all.iter().map(bytes).sum::<usize>() as i32);
    }
    let is_kept = !twins.named || is_weighed || total.is_some_and(|total| total.drops);
    assert_eq!(kept, (!pages.is_empty() && is_kept).then_some(expected), "{case}");
}

/// No field counts arrays where the policy names none.
fn check_fields(twins: &Twins, case: &str) {
    let guarded = twins.memory.documents("guarded").remove(0);
    let plain = twins.memory.documents("plain").remove(0);
    let keys = |document: &RawDocumentBuf| {
        let mut keys: Vec<_> = Document::try_from(&**document).unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&guarded), keys(&plain), "{case}");
}
