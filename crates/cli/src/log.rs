//! Logs go to stderr: text for people, JSON for what collects them. The last lines are kept
//! for `getLog`.

use server::RecentLines;
use std::io::{IsTerminal, stderr};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// `FREEBOARD_LOG` sets the level, as `debug` or `warn,freeboard_engine=debug`.
const LEVEL_VARIABLE: &str = "FREEBOARD_LOG";

/// The storage engine tells too much of its own work.
const LEVEL: &str = "info,fjall=warn,lsm_tree=warn";

pub fn start() -> Result<RecentLines, String> {
    let level = std::env::var(LEVEL_VARIABLE).unwrap_or_else(|_| LEVEL.to_owned());
    let filter = EnvFilter::try_new(&level).map_err(|error| {
        format!("{LEVEL_VARIABLE}={level} is not a log level ({error}); use info, debug or warn")
    })?;
    let recent = RecentLines::default();
    let kept = recent.clone();
    let lines = layer().json().flatten_event(true).with_writer(move || kept.clone());
    let log = tracing_subscriber::registry().with(filter).with(lines);
    let started = if stderr().is_terminal() {
        log.with(layer().with_target(false).with_writer(stderr)).try_init()
    } else {
        log.with(layer().json().flatten_event(true).with_writer(stderr)).try_init()
    };
    started.map_err(|error| format!("the log did not start: {error}"))?;
    Ok(recent)
}
