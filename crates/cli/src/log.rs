//! Logs go to stderr: text for people, JSON for what collects them.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// `FREEBOARD_LOG` sets the level, as `debug` or `warn,freeboard_engine=debug`.
const LEVEL_VARIABLE: &str = "FREEBOARD_LOG";

/// The storage engine tells too much of its own work.
const LEVEL: &str = "info,fjall=warn,lsm_tree=warn";

pub fn start() -> Result<(), String> {
    let level = std::env::var(LEVEL_VARIABLE).unwrap_or_else(|_| LEVEL.to_owned());
    let filter = EnvFilter::try_new(&level).map_err(|error| {
        format!("{LEVEL_VARIABLE}={level} is not a log level ({error}); use info, debug or warn")
    })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = if std::io::stderr().is_terminal() {
        builder.with_target(false).try_init()
    } else {
        builder.json().flatten_event(true).try_init()
    };
    started.map_err(|error| format!("the log did not start: {error}"))
}
