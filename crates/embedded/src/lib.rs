//! The embedded database: the engine as the backend of a server, and how both start. `server`
//! knows no engine and the engine no server; a gateway stands beside this crate.

mod backend;

use backend::Embedded;
use bson::RawDocumentBuf;
use command::Namespace;
use engine::Backups;
use engine::Engine;
use server::{Running, StartError};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// How a database is opened and served.
#[derive(Debug, Clone)]
pub struct Options {
    pub server: server::Options,
    /// The data directory.
    pub data: PathBuf,
    /// Free space on the data's disk below which writes that take room are refused.
    pub reserve_bytes: u64,
    /// Documents that will reach their bounds within so many seconds are logged.
    pub growth_horizon_seconds: u32,
    /// The directory below which copies of the store may be written, if anywhere.
    pub backups: Option<PathBuf>,
    /// Growth policies to be set before clients are let in.
    pub policies: Vec<(Namespace, RawDocumentBuf)>,
}

impl Options {
    /// A server on any free port of this machine, without HTTP: for tests.
    pub fn local(data: impl Into<PathBuf>) -> Options {
        Options {
            server: server::Options::local(),
            data: data.into(),
            reserve_bytes: 0,
            growth_horizon_seconds: engine::HORIZON_SECONDS,
            backups: None,
            policies: Vec::new(),
        }
    }
}

/// Opens the store and serves it. The sockets are bound first, so that a server that cannot
/// listen leaves its data alone.
pub async fn start(options: Options) -> Result<Running, StartError> {
    let Options { server, data, reserve_bytes, growth_horizon_seconds, backups, policies } =
        options;
    let bound = server::bind(server).await?;
    let backups = backups.map(|directory| open_backups(&directory, &data)).transpose()?;
    let opened = Engine::open(&data).await;
    let engine = opened.map_err(|error| StartError::new(error.to_string()))?;
    engine.store.space().set_reserve(reserve_bytes);
    backups.into_iter().for_each(|backups| engine.set_backups(backups));
    engine.growth.horizon_seconds.store(growth_horizon_seconds, Ordering::Relaxed);
    let set = engine.ensure_policies(&policies).await;
    set.map_err(|error| StartError::new(error.message().to_owned()))?;
    Ok(bound.serve(Embedded::new(engine, data)))
}

fn open_backups(directory: &Path, data: &Path) -> Result<Backups, StartError> {
    Backups::open(directory, data).map_err(|error| {
        StartError::new(format!(
            "cannot keep backups in {}: {error}; choose another directory with --backups",
            directory.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_command_of_the_table_is_run_by_one_side() {
        for command in command::table::COMMANDS {
            let sides = [server::answers(command.name), engine::handles(command.name)];
            assert_eq!(sides.iter().filter(|runs| **runs).count(), 1, "{}", command.name);
        }
    }
}
