//! Every record, in natural order or its reverse.

use super::{Member, Operator, Running, Shared, Stats, Work, fetch};
use crate::plan::{CollectionScan, Scan};
use crate::storage::Records;
use error::Result;
use std::ops::Bound;
use std::sync::Arc;

pub struct CollectionScanOperation {
    plan: Arc<CollectionScan>,
    records: Option<Records>,
}

impl CollectionScanOperation {
    pub fn new(plan: Arc<CollectionScan>) -> CollectionScanOperation {
        CollectionScanOperation { plan, records: None }
    }
}

impl Operator for CollectionScanOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        let records = self.records.get_or_insert_with(|| {
            let start = self.plan.after.map_or(Bound::Unbounded, Bound::Excluded);
            shared.view.records(shared.collection, (start, Bound::Unbounded))
        });
        let next = match self.plan.scan {
            Scan::Forward => records.next(),
            Scan::Backward => records.next_back(),
        };
        let Some(next) = next else { return Ok(Work::Done) };
        let (id, record) = next?;
        stats.documents_examined += 1;
        Ok(match fetch::load(shared, &record, self.plan.filter.as_deref())? {
            Some(document) => {
                Work::Advanced(Member { record: id, entry: None, document: Some(document) })
            }
            None => Work::Pending,
        })
    }

    fn inputs(&self) -> Vec<&Running> {
        Vec::new()
    }
}
