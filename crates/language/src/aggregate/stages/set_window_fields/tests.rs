use super::SetWindowFields;
use crate::aggregate::stages::testing::{World, run_in, stream};
use crate::aggregate::stages::{Specification, Stage};
use crate::aggregate::{Documents, Foreign, Nowhere};
use crate::interrupt::{self, Interrupt};
use crate::{Context, aggregate::Pipeline};
use bson::{Document, RawBsonRef, RawDocumentBuf, doc};
use error::{Code, Result};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The stage with so much memory.
fn pipeline(specification: &Document, memory_bytes_max: usize) -> Pipeline {
    let context = Context::new();
    let specification = RawDocumentBuf::try_from(specification).unwrap();
    let value = RawBsonRef::Document(&specification);
    let name = "$setWindowFields";
    let mut stages =
        super::parse(Specification { name, value, context: &context, depth: 0 }).unwrap();
    for stage in &mut stages {
        let stage: &mut dyn Stage = &mut **stage;
        let stage: &mut dyn Any = stage;
        if let Some(stage) = stage.downcast_mut::<SetWindowFields>() {
            stage.memory_bytes_max = memory_bytes_max;
        }
    }
    Pipeline::from_stages(stages)
}

fn rows() -> Vec<Document> {
    let row = |at: i32| doc! {"_id": at, "k": at / 100, "v": at % 7, "text": "x".repeat(50)};
    (0..250).map(row).collect()
}

fn outcome(
    specification: &Document,
    memory_bytes_max: usize,
    foreign: Arc<dyn Foreign>,
) -> Result<Vec<RawDocumentBuf>> {
    pipeline(specification, memory_bytes_max).run(stream(rows()), foreign)?.collect()
}

#[test]
fn partitions_that_do_not_fit_are_spilled() {
    let specification = doc! {"partitionBy": "$k", "sortBy": {"_id": 1}, "output": {
        "all": {"$sum": "$v"},
        "soFar": {"$sum": "$v", "window": {"documents": ["unbounded", "current"]}},
        "near": {"$push": "$v", "window": {"documents": [-1, 1]}},
        "later.one": {"$shift": {"output": "$_id", "by": 30}},
        "range": {"$max": "$v", "window": {"range": [-5, 2]}},
        "rank": {"$rank": {}},
    }};
    let world = Arc::new(World::default());
    let spilled = outcome(&specification, 5_000, world.clone()).unwrap();
    assert_eq!(world.spills.load(Ordering::Relaxed), 3, "once a partition");
    assert_eq!(spilled, outcome(&specification, usize::MAX, Arc::new(Nowhere)).unwrap());
    let refused = outcome(&specification, 5_000, Arc::new(Nowhere)).unwrap_err();
    assert_eq!(refused.code(), Code::location(5643011));
}

#[test]
fn functions_that_keep_too_much_are_refused() {
    for window in [doc! {"documents": ["unbounded", "unbounded"]}, doc! {"documents": [-200, 0]}] {
        let push = doc! {"$push": "$text", "window": window};
        let specification = doc! {"sortBy": {"_id": 1}, "output": {"p": push}};
        let refused = outcome(&specification, 5_000, Arc::new(World::default())).unwrap_err();
        assert_eq!(refused.code(), Code::location(5414201));
    }
}

/// Documents that are counted as they are read.
fn counted(count: usize) -> (Documents, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let counter = read.clone();
    let documents = (0..count).map(move |at| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(RawDocumentBuf::try_from(&doc! {"t": at as i64}).unwrap())
    });
    (Box::new(documents), read)
}

#[test]
fn a_document_is_handed_on_once_its_window_is_read() {
    let window = |bounds: bson::Bson| doc! {"output": {"s": {"$sum": "$t", "window": bounds}}};
    let cases = [
        (doc! {"output": {"s": {"$sum": "$t"}}}, 1_000),
        (window(bson::bson!({"documents": ["unbounded", "unbounded"]})), 1_000),
        (doc! {"output": {"s": {"$locf": "$t"}}}, 1),
    ];
    for (specification, expected) in cases {
        let (input, read) = counted(1_000);
        let mut out = pipeline(&specification, usize::MAX).run(input, Arc::new(Nowhere)).unwrap();
        out.next().unwrap().unwrap();
        assert_eq!(read.load(Ordering::Relaxed), expected, "{specification}");
        assert_eq!(out.count(), 999);
    }
}

struct Stopped;

impl Interrupt for Stopped {
    fn check(&self) -> Result<()> {
        Err(Code::MaxTimeMSExpired.error("operation exceeded time limit"))
    }
}

#[test]
fn an_interrupt_reaches_into_one_partition() {
    let specification = doc! {"output": {"all": {"$push": "$t"}}};
    let (input, read) = counted(100_000);
    let mut out = pipeline(&specification, usize::MAX).run(input, Arc::new(Nowhere)).unwrap();
    let entered = interrupt::enter(Arc::new(Stopped));
    let stopped = out.next().unwrap().unwrap_err();
    drop(entered);
    assert_eq!(stopped.code(), Code::MaxTimeMSExpired);
    assert!(read.load(Ordering::Relaxed) < 1_000);
    assert!(out.next().is_none(), "it stays ended");
}

#[test]
fn fields_keep_their_places() {
    let out = run_in(
        vec![doc! {"$setWindowFields": {"sortBy": {"t": 1}, "output": {
            "b": {"$sum": "$t"}, "new": {"$first": "$t"}, "gone": {"$first": "$missing"},
        }}}],
        vec![doc! {"a": 1, "b": "old", "gone": 1, "t": 2}],
        Arc::new(Nowhere),
    );
    assert_eq!(out.unwrap(), [doc! {"a": 1, "b": 2, "t": 2, "new": 2}]);
}
