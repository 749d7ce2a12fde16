//! `freeboard serve`: the server.

use crate::boolean::boolean;
use crate::out::Out;
use crate::size::Size;
use crate::span::Span;
use crate::{allocator, apply, log, stop};
use bson::RawDocumentBuf;
use command::Namespace;
use embedded::Options;
use rustix::fs::Mode;
use server::{ReplicaSet, descriptors, limits, memory};
use std::error::Error;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tracing::{info, warn};

/// Polls of tasks between two looks at the sockets. Each may take a whole turn.
const POLLS_BETWEEN_SOCKETS: u32 = 16;
/// `engine::storage::RESERVE_BYTES`, as people write it.
const RESERVE: &str = "500MB";
/// `engine::HORIZON_SECONDS`, as people write it.
const HORIZON: &str = "7d";

const LOG_HELP: &str = "\
The log goes to standard error: text on a terminal, JSON otherwise. FREEBOARD_LOG sets its level: \
warn, info (the default), debug.
Ctrl-C or SIGTERM stops the server cleanly.";

/// Run the server.
#[derive(clap::Args)]
#[command(after_help = LOG_HELP)]
pub struct Arguments {
    /// Directory of the data; made if it is not there.
    #[arg(long, env = "FREEBOARD_DATA", value_name = "DIR", default_value = "./freeboard-data")]
    data: PathBuf,
    /// Address for clients; port 0 takes any that is free.
    #[arg(long, env = "FREEBOARD_LISTEN", value_name = "ADDR", default_value = "127.0.0.1:27017")]
    listen: String,
    /// Address for HTTP: health, later metrics and the dashboard.
    #[arg(long, env = "FREEBOARD_HTTP", value_name = "ADDR", default_value = "127.0.0.1:27080")]
    http: String,
    /// Answer as the primary of a replica set of this name, with one member, for applications
    /// whose URI says `replicaSet=`; otherwise the server answers as a mongos.
    #[arg(long, env = "FREEBOARD_REPLICA_SET", value_name = "NAME")]
    replica_set: Option<String>,
    /// Address that clients of the replica set are sent to; by default the one for clients.
    #[arg(long, env = "FREEBOARD_ADVERTISE", value_name = "HOST:PORT", requires = "replica_set")]
    advertise: Option<String>,
    /// Memory that the whole process may take, at least 256MB; by default half of the machine's,
    /// or of what its control group allows.
    #[arg(long, env = "FREEBOARD_MEMORY", value_name = "SIZE")]
    memory: Option<Size>,
    /// Free space on the data's disk below which writes that take room are refused.
    #[arg(long, env = "FREEBOARD_RESERVE", value_name = "SIZE", default_value = RESERVE)]
    reserve: Size,
    /// Documents that will reach their bounds within this time, as they grow, are logged; 0s
    /// for none.
    #[arg(long, env = "FREEBOARD_GROWTH_HORIZON", value_name = "TIME", default_value = HORIZON)]
    growth_horizon: Span,
    /// Listen off this machine though there are no users: anyone who reaches the address may
    /// read and change everything.
    #[arg(long, env = "FREEBOARD_ALLOW_OPEN", value_parser = boolean())]
    allow_open: bool,
    /// Directory below which `freeboard backup` may have copies of the store written; made if
    /// it is not there. Without it no copies are made.
    #[arg(long, env = "FREEBOARD_BACKUPS", value_name = "DIR")]
    backups: Option<PathBuf>,
    /// A file of growth policies, which are set before clients are let in.
    #[arg(long, env = "FREEBOARD_POLICY", value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Take `configureFailPoint`, with which any client can have commands fail: for tests of
    /// applications and drivers.
    #[arg(long, env = "FREEBOARD_TEST_COMMANDS", value_parser = boolean())]
    test_commands: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    // Nobody else looks into the files that the server makes.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let recent_lines = log::start()?;
    let policies = match &arguments.policy {
        Some(path) => policies(path)?,
        None => Vec::new(),
    };
    descriptors::raise_limit();
    let memory_bytes = arguments.memory.map_or_else(memory::default_bytes, |size| size.bytes);
    let server = server::Options {
        listen: arguments.listen,
        http: Some(arguments.http),
        replica_set: arguments
            .replica_set
            .map(|name| ReplicaSet { name, advertise: arguments.advertise }),
        test_commands: arguments.test_commands,
        allow_open: arguments.allow_open,
        connections_max: descriptors::connections_max(memory_bytes),
        memory_bytes: Some(memory_bytes),
        collect_memory: Some(allocator::collect),
        transfer_stall_max: limits::TRANSFER_STALL_MAX,
        set_verbosity: Some(log::set_verbosity),
        recent_lines,
    };
    let options = Options {
        server,
        data: arguments.data,
        reserve_bytes: arguments.reserve.bytes,
        growth_horizon_seconds: arguments.growth_horizon.seconds,
        backups: arguments.backups,
        policies,
    };
    // Before anything else, so that no signal finds the server half started.
    let signal = stop::watch()?;
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(turn::BLOCKING_THREADS_MAX)
        .event_interval(POLLS_BETWEEN_SOCKETS)
        .build()?;
    let outcome = runtime.block_on(serve(options, signal));
    // The store is closed: whatever still runs has nothing to finish.
    runtime.shutdown_background();
    log::flush();
    outcome?;
    Ok(ExitCode::SUCCESS)
}

/// The policies of a file, by collection.
fn policies(path: &PathBuf) -> Result<Vec<(Namespace, RawDocumentBuf)>, Box<dyn Error>> {
    let file = apply::read(path)?;
    let mut policies = Vec::new();
    for (collection, policy) in file.policies {
        policies.push((Namespace::new(&file.database, &collection)?, policy));
    }
    Ok(policies)
}

async fn serve(
    options: Options,
    signal: oneshot::Receiver<&'static str>,
) -> Result<(), Box<dyn Error>> {
    let mut running = embedded::start(options).await?;
    // What starts the server reads the address here; people read the log.
    if !std::io::stdout().is_terminal() {
        let mut out = Out::default();
        out.line(format_args!("listening on {}", running.address));
        if let Err(error) = out.end() {
            warn!("{error}");
        }
    }
    let (reason, outcome) = tokio::select! {
        Ok(name) = signal => (name, Ok(())),
        why = running.failed() => ("a failure", Err(why.into())),
    };
    info!("stopping on {reason}");
    running.stop().await;
    info!("stopped");
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_reserve_is_the_engines() {
        let size: Size = RESERVE.parse().expect("a size");
        assert_eq!(size.bytes, engine::storage::RESERVE_BYTES);
    }

    #[test]
    fn the_default_horizon_is_the_engines() {
        let span: Span = HORIZON.parse().expect("a time");
        assert_eq!(span.seconds, engine::HORIZON_SECONDS);
    }
}
