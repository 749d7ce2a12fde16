//! The moment that a read sees, where its read concern asks for one: what has been
//! synced, and for snapshot reads a moment that later reads can come back to.

use crate::Engine;
use crate::catalog::Catalog;
use crate::storage::clock::{between, time, timestamp};
use crate::storage::{Mark, Synced, View};
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
        self.check_times(concern)?;
        let after = concern.after_cluster_time.is_some();
        match concern.level {
            ReadLevel::Local | ReadLevel::Available => return Ok(None),
            ReadLevel::Linearizable => self.sync_all().await?,
            ReadLevel::Majority | ReadLevel::Snapshot if after => self.sync_all().await?,
            ReadLevel::Majority | ReadLevel::Snapshot => {}
        }
        let catalog = self.registry.synced();
        let Synced { view, time: newest } = self.store.synced();
        let moment = Moment { catalog, view, time: None };
        Ok(Some(match (concern.level, concern.at_cluster_time.map(time)) {
            // The newest moment lasts until the next commit.
            (_, Some(wanted)) if wanted != newest && wanted != between(newest) => {
                self.moments.at(wanted)?
            }
            (ReadLevel::Snapshot, _) => self.moments.keep(moment, newest),
            _ => moment,
        }))
    }

    /// Waits until everything written so far is synced.
    async fn sync_all(&self) -> Result<()> {
        self.store.reach(self.store.newest(), Mark::Synced).await
    }

    /// Refuses a read concern that asks for a time to come.
    pub fn check_times(&self, concern: &ReadConcern) -> Result<()> {
        self.check_time("afterClusterTime", concern.after_cluster_time)?;
        self.check_time("atClusterTime", concern.at_cluster_time)
    }

    fn check_time(&self, name: &str, given: Option<Timestamp>) -> Result<()> {
        match given {
            Some(given) if time(given) > self.store.clock().now() => Err(Code::InvalidOptions
                .error(format!(
                    "readConcern {name} value must not be greater than the current clusterTime. \
                     Requested clusterTime: {{ ts: Timestamp({}, {}) }}",
                    given.time, given.increment
                ))),
            _ => Ok(()),
        }
    }
}

impl Moments {
    /// Keeps a moment under the time of its last commit, or finds that it is kept.
    fn keep(&self, mut moment: Moment, time: u64) -> Moment {
        let mut kept = self.kept.lock();
        if let Some((_, kept)) = kept.get(&time) {
            return kept.clone();
        }
        while let Some(oldest) = kept.first_entry()
            && (oldest.get().0.elapsed() > MOMENT_KEPT_MAX || kept.len() >= MOMENTS_MAX)
        {
            kept.pop_first();
        }
        moment.time = Some(timestamp(time));
        kept.insert(time, (Instant::now(), moment.clone()));
        moment
    }

    fn at(&self, wanted: u64) -> Result<Moment> {
        let kept = self.kept.lock();
        // The moment of a commit is also known by the time behind it.
        let found = kept.get(&wanted).or_else(|| kept.get(&wanted.checked_sub(1)?));
        match found {
            Some((_, moment)) => Ok(moment.clone()),
            None => {
                let Timestamp { time, increment } = timestamp(wanted);
                Err(Code::SnapshotUnavailable.error(format!(
                    "Read timestamp Timestamp({time}, {increment}) is not that of a snapshot read \
                     of the last {} seconds",
                    MOMENT_KEPT_MAX.as_secs()
                )))
            }
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
