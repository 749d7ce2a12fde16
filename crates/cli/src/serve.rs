//! `freeboard serve`: the server.

use crate::out::Out;
use crate::size::Size;
use crate::span::Span;
use crate::{apply, log};
use bson::RawDocumentBuf;
use command::Namespace;
use server::{Options, Server, limits};
use std::error::Error;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

/// Descriptors left for the store's files when connections have taken theirs.
const FILES_RESERVED: u64 = 1_000;
/// `engine::storage::RESERVE_BYTES`, as people write it.
const RESERVE: &str = "500MB";
/// `engine::growth::HORIZON_SECONDS`, as people write it.
const HORIZON: &str = "7d";

/// Run the server.
#[derive(clap::Args)]
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
    /// Free space on the data's disk below which writes that take room are refused.
    #[arg(long, env = "FREEBOARD_RESERVE", value_name = "SIZE", default_value = RESERVE)]
    reserve: Size,
    /// Documents that will reach their bounds within this time, as they grow, are logged; 0s
    /// for none.
    #[arg(long, env = "FREEBOARD_GROWTH_HORIZON", value_name = "TIME", default_value = HORIZON)]
    growth_horizon: Span,
    /// A file of growth policies, which are set before clients are let in.
    #[arg(long, env = "FREEBOARD_POLICY", value_name = "FILE")]
    policy: Option<PathBuf>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let recent_lines = log::start()?;
    let policies = match &arguments.policy {
        Some(path) => policies(path)?,
        None => Vec::new(),
    };
    let options = Options {
        data: arguments.data,
        listen: arguments.listen,
        http: Some(arguments.http),
        connections_max: connections_max(),
        reserve_bytes: arguments.reserve.bytes,
        growth_horizon_seconds: arguments.growth_horizon.seconds,
        policies,
        recent_lines,
    };
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve(options))?;
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

async fn serve(options: Options) -> Result<(), Box<dyn Error>> {
    // Before anything else, so that no signal finds the server half started.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut running = Server::start(options).await?;
    // What starts the server reads the address here; people read the log.
    if !std::io::stdout().is_terminal() {
        let mut out = Out::default();
        out.line(format_args!("listening on {}", running.address));
        if let Err(error) = out.end() {
            warn!("{error}");
        }
    }
    let (reason, outcome) = tokio::select! {
        _ = terminate.recv() => ("SIGTERM", Ok(())),
        _ = interrupt.recv() => ("Ctrl-C", Ok(())),
        why = running.failed() => ("a failure", Err(why.into())),
    };
    info!("stopping on {reason}");
    running.stop().await;
    info!("stopped");
    outcome
}

/// Takes all the file descriptors the system gives, and leaves some for files.
fn connections_max() -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it is refused, what was there before holds.
    let _ = setrlimit(Resource::Nofile, limit);
    match getrlimit(Resource::Nofile).current {
        Some(files) => {
            let free = files.saturating_sub(FILES_RESERVED).max(files / 2);
            limits::CONNECTIONS_MAX.min(free as usize)
        }
        None => limits::CONNECTIONS_MAX,
    }
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
        assert_eq!(span.seconds, engine::growth::HORIZON_SECONDS);
    }
}
