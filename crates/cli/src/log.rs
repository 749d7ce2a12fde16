//! Logs go to stderr: text for people, JSON for what collects them. The last lines are kept
//! for `getLog`.

use server::RecentLines;
use std::io::{self, IsTerminal, Stderr, Write, stderr};
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
        log.with(layer().with_target(false).with_writer(|| Lines(stderr()))).try_init()
    } else {
        log.with(layer().json().flatten_event(true).with_writer(stderr)).try_init()
    };
    started.map_err(|error| format!("the log did not start: {error}"))?;
    Ok(recent)
}

/// Writes an event as one line, whatever names clients have chosen: control characters are
/// escaped. Colours are left, which only the formatter writes.
struct Lines(Stderr);

impl Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        self.0.write_all(line(&text).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn line(event: &str) -> String {
    let mut line = String::with_capacity(event.len());
    for character in event.strip_suffix('\n').unwrap_or(event).chars() {
        match character {
            '\x1b' => line.push(character),
            _ if character.is_control() => line.extend(character.escape_default()),
            _ => line.push(character),
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn an_event_is_one_line() {
        assert_eq!(line("plain\n"), "plain\n");
        assert_eq!(line("a\nb\r\tc\u{7}\u{9b}31m\n"), "a\\nb\\r\\tc\\u{7}\\u{9b}31m\n");
    }

    #[test]
    fn the_formatter_escapes_colours_of_others() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let kept = written.clone();
        let text = layer().with_ansi(false).without_time().with_writer(move || Kept(kept.clone()));
        let subscriber = tracing_subscriber::registry().with(text);
        tracing::subscriber::with_default(subscriber, || tracing::info!("dropped {}", "\x1b[2Jx"));
        let written = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert!(written.contains("[2Jx") && !written.contains('\x1b'), "{written:?}");
    }

    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, event: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(event);
            Ok(event.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
