//! The moment that a read sees, where its read concern asks for one: what has been
//! synced, and for snapshot reads a moment that later reads can come back to.

use crate::Engine;
use crate::catalog::Catalog;
use crate::storage::log::{time, timestamp};
use crate::storage::{Mark, View};
use bson::Timestamp;
use command::common::{ReadConcern, ReadLevel};
use error::{Code, Result};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a snapshot read can be come back to.
const MOMENT_KEPT_MAX: Duration = Duration::from_secs(300);
/// Moments kept at once; the oldest go first.
const MOMENTS_MAX: usize = 10_000;

#[derive(Clone)]
pub struct Moment {
    /// Not newer than the view.
    pub catalog: Arc<Catalog>,
    pub view: View,
    /// Where the read may be asked for again: `atClusterTime`.
    pub time: Option<Timestamp>,
}

/// Moments of snapshot reads, by their cluster time.
#[derive(Default)]
pub struct Moments {
    kept: Mutex<BTreeMap<u64, (Instant, Moment)>>,
}

impl Engine {
    /// What a read of this concern sees; `None` is whatever is newest.
    pub async fn moment(&self, concern: &ReadConcern) -> Result<Option<Moment>> {
        self.check_time("afterClusterTime", concern.after_cluster_time)?;
        self.check_time("atClusterTime", concern.at_cluster_time)?;
        let after = concern.after_cluster_time.is_some();
        match concern.level {
            ReadLevel::Local | ReadLevel::Available => return Ok(None),
            ReadLevel::Linearizable => self.sync_all().await?,
            ReadLevel::Majority | ReadLevel::Snapshot if after => self.sync_all().await?,
            ReadLevel::Majority | ReadLevel::Snapshot => {}
        }
        if let Some(wanted) = concern.at_cluster_time {
            return self.moments.at(wanted).map(Some);
        }
        let catalog = self.registry.synced();
        let moment = Moment { catalog, view: self.store.synced_view(), time: None };
        Ok(Some(match concern.level {
            ReadLevel::Snapshot => self.moments.keep(moment, self.store.log().now()),
            _ => moment,
        }))
    }

    /// Waits until everything written so far is synced.
    async fn sync_all(&self) -> Result<()> {
        self.store.reach(self.store.newest(), Mark::Synced).await
    }

    fn check_time(&self, name: &str, given: Option<Timestamp>) -> Result<()> {
        match given {
            Some(given) if time(given) > self.store.log().now() => {
                Err(Code::InvalidOptions.error(format!(
                    "readConcern {name} value must not be greater than the current clusterTime. \
                     Requested clusterTime: {{ ts: Timestamp({}, {}) }}",
                    given.time, given.increment
                )))
            }
            _ => Ok(()),
        }
    }
}

impl Moments {
    /// Keeps a moment under a cluster time of its own, or finds that it is kept.
    fn keep(&self, mut moment: Moment, now: u64) -> Moment {
        let mut kept = self.kept.lock();
        let mut next = now;
        if let Some((last, (_, newest))) = kept.last_key_value() {
            if newest.view.is_same(&moment.view) {
                return newest.clone();
            }
            next = next.max(last + 1);
        }
        while let Some(oldest) = kept.first_entry()
            && (oldest.get().0.elapsed() > MOMENT_KEPT_MAX || kept.len() >= MOMENTS_MAX)
        {
            kept.pop_first();
        }
        moment.time = Some(timestamp(next));
        kept.insert(next, (Instant::now(), moment.clone()));
        moment
    }

    fn at(&self, wanted: Timestamp) -> Result<Moment> {
        let kept = self.kept.lock();
        match kept.get(&time(wanted)) {
            Some((_, moment)) => Ok(moment.clone()),
            None => Err(Code::SnapshotUnavailable.error(format!(
                "Read timestamp Timestamp({}, {}) is not that of a snapshot read of the last {} \
                 seconds",
                wanted.time,
                wanted.increment,
                MOMENT_KEPT_MAX.as_secs()
            ))),
        }
    }

    /// Lets go of moments that are too old, so that storage can free what they hold.
    pub fn expire(&self) {
        self.kept.lock().retain(|_, (taken, _)| taken.elapsed() <= MOMENT_KEPT_MAX);
    }

    pub fn clear(&self) {
        self.kept.lock().clear();
    }
}
