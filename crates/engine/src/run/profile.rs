//! The profiler: which commands of a database are recorded in `system.profile`,
//! and the log of slow commands.

use super::Call;
use command::{Command, Reply};
use error::Result;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::time::Duration;

/// What counts as slow, where nobody has said.
const SLOW: Duration = Duration::from_millis(100);

/// How a database's commands are recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// 0: none, 1: slow ones, 2: all.
    pub level: i32,
    pub slow: Duration,
    /// The share of slow commands that is recorded.
    pub sample_rate: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { level: 0, slow: SLOW, sample_rate: 1.0 }
    }
}

/// Settings by database; those of a database that is not there are the default.
#[derive(Debug, Default)]
pub struct Profiles {
    databases: RwLock<BTreeMap<Box<str>, Settings>>,
}

impl Profiles {
    pub fn get(&self, database: &str) -> Settings {
        self.databases.read().get(database).copied().unwrap_or_default()
    }

    pub fn set(&self, database: &str, settings: Settings) {
        self.databases.write().insert(database.into(), settings);
    }
}

/// Records a finished command, if the settings ask for it.
pub fn record(call: Call<'_>, command: &Command, outcome: &Result<Reply>) {
    let took = call.operation.started.elapsed();
    let settings = call.engine.profiles.get(call.common.database);
    if took >= settings.slow {
        tracing::info!(
            command = command.name,
            database = call.common.database,
            milliseconds = took.as_millis() as u64,
            ok = outcome.is_ok(),
            "slow command"
        );
    }
}
