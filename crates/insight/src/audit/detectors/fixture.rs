//! What tests of detectors begin with: documents that become a subject.

use super::{Deployment, Look, Subject};
use crate::audit::Thresholds;
use crate::audit::census::Census;
use crate::audit::facts::{Collection, Index, Kind, Operation, ShardKey};
use crate::audit::outline::Outline;
use crate::audit::target::Target;
use crate::report::{Finding, Remedy};
use bson::{Document, RawDocumentBuf};
use command::Namespace;
use rustc_hash::FxHashSet;

pub const NOW: i64 = 1_700_000_000_000;
pub const DAY: i64 = 24 * 60 * 60 * 1000;

/// A collection `shop.things` in the making.
pub struct Fixture {
    pub collection: Collection,
    pub census: Census,
    pub target: Target,
    pub thresholds: Thresholds,
    pub names: FxHashSet<String>,
}

impl Fixture {
    pub fn new(documents: impl IntoIterator<Item = RawDocumentBuf>) -> Fixture {
        let mut census = Census::new(NOW);
        documents.into_iter().for_each(|document| census.add(&document));
        let namespace = Namespace { database: "shop".into(), collection: "things".into() };
        let mut collection = Collection::new(namespace, Kind::Ordinary, Document::new());
        collection.documents = Some(census.documents());
        Fixture {
            collection,
            census,
            target: Target::MongoDb,
            thresholds: Thresholds::default(),
            names: FxHashSet::default(),
        }
    }

    /// As `new`, in a collection that is sharded by a key.
    pub fn sharded(key: Document, documents: impl IntoIterator<Item = RawDocumentBuf>) -> Fixture {
        let mut fixture = Fixture::new([]);
        fixture.census.follow(&key);
        documents.into_iter().for_each(|document| fixture.census.add(&document));
        fixture.collection.documents = Some(fixture.census.documents());
        fixture.collection.shard_key = Some(ShardKey { key, in_use: true });
        fixture
    }

    /// What clients have asked, as the profiler tells it.
    pub fn operations(mut self, operations: impl IntoIterator<Item = Operation>) -> Fixture {
        self.collection.operations = operations.into_iter().collect();
        self
    }

    pub fn options(mut self, options: Document) -> Fixture {
        self.collection.options = options;
        self
    }

    pub fn indexes(mut self, indexes: impl IntoIterator<Item = Document>) -> Fixture {
        self.collection.indexes = indexes.into_iter().map(Index::new).collect();
        self
    }

    /// What all detectors find in a deployment of this collection alone, by name.
    pub fn all(&self) -> Vec<Finding> {
        let Fixture { collection, census, target, thresholds, names } = self;
        let (target, limits) = (*target, target.limits());
        let subject = Subject { collection, census, target, limits, thresholds, names, now: NOW };
        let collections = [Outline::new(collection, census)];
        let deployment = Deployment { collections: &collections, target, limits, thresholds };
        let mut findings = super::look_at_collection(&subject);
        findings.extend(super::look_at_deployment(&deployment));
        findings.iter().for_each(assert_cured);
        findings.sort_by(|a, b| a.detector.cmp(&b.detector));
        findings
    }

    /// What a detector finds; every policy among the cures is one that Freeboard takes.
    pub fn look(&self, look: fn(&Subject<'_>) -> Vec<Finding>) -> Vec<Finding> {
        let Fixture { collection, census, target, thresholds, names } = self;
        let (target, limits) = (*target, target.limits());
        let subject = Subject { collection, census, target, limits, thresholds, names, now: NOW };
        let findings = look(&subject);
        findings.iter().for_each(assert_cured);
        findings
    }
}

/// Whether what a finding proposes can be run.
pub fn assert_cured(finding: &Finding) {
    assert!(!finding.cure.pattern.is_empty());
    match &finding.cure.remedy {
        Remedy::Policy(policy) => {
            guard::policy::file::File::parse(&policy.to_string()).unwrap();
        }
        Remedy::Command(command) => assert!(command.contains("db."), "{command}"),
    }
}

#[test]
fn an_empty_collection_has_no_faults() {
    for detector in super::DETECTORS {
        if let Look::Collection(look) = detector.look {
            assert!(Fixture::new([]).look(look).is_empty(), "{}", detector.name);
        }
    }
}
