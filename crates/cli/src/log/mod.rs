//! Logs go to stderr, by way of a queue: text for people, JSON for what collects them. The last
//! lines are kept for `getLog`.

mod queue;

use crate::out;
use queue::Queue;
use server::RecentLines;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Display;
use std::io::{self, IsTerminal, Write, stderr};
use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use std::time::Duration;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, reload};

/// `FREEBOARD_LOG` sets the level, as `debug` or `warn,freeboard_engine=debug`.
const LEVEL_VARIABLE: &str = "FREEBOARD_LOG";

/// The storage engine tells too much of its own work.
const LEVEL: &str = "info,fjall=warn,lsm_tree=warn";
/// Levels 1 and 2 of MongoDB's log; it has more.
const MORE: [&str; 2] = ["debug,fjall=warn,lsm_tree=warn", "trace,fjall=warn,lsm_tree=warn"];

/// How long the end of the process waits for the log to be written.
const FLUSH_MAX: Duration = Duration::from_millis(250);
/// How long a thread that panics does: what follows may be the end of the process.
const PANIC_FLUSH_MAX: Duration = Duration::from_millis(50);

/// Standard error, once the log has been started.
static QUEUE: OnceLock<Queue> = OnceLock::new();
static LEVELS: OnceLock<Levels> = OnceLock::new();

/// How much the log tells, which can change.
struct Levels {
    handle: reload::Handle<EnvFilter, Registry>,
    /// What level 0 stands for.
    least: String,
}

pub fn start() -> Result<RecentLines, String> {
    let level = std::env::var(LEVEL_VARIABLE).ok().filter(|level| !level.is_empty());
    let level = level.unwrap_or_else(|| LEVEL.to_owned());
    let filter = EnvFilter::try_new(&level).map_err(|error| {
        format!("{LEVEL_VARIABLE}={level} is not a log level ({error}); use info, debug or warn")
    })?;
    let is_least = filter.max_level_hint().is_some_and(|level| level <= LevelFilter::INFO);
    let least = if is_least { level } else { LEVEL.to_owned() };
    let (filter, handle) = reload::Layer::new(filter);
    LEVELS.get_or_init(|| Levels { handle, least });
    let recent = RecentLines::default();
    let kept = recent.clone();
    let lines = layer().json().flatten_event(true).with_writer(move || kept.clone());
    let log = tracing_subscriber::registry().with(filter).with(lines);
    let failed = |error: &dyn Display| format!("the log did not start: {error}");
    let queue = Queue::start(stderr(), recent.clone()).map_err(|error| failed(&error))?;
    let queue = QUEUE.get_or_init(|| queue);
    let started = if stderr().is_terminal() {
        log.with(layer().with_target(false).with_writer(move || Lines(queue.clone()))).try_init()
    } else {
        log.with(layer().json().flatten_event(true).with_writer(move || queue.clone())).try_init()
    };
    started.map_err(|error| failed(&error))?;
    std::panic::set_hook(Box::new(move |info| panicked(queue, info)));
    Ok(recent)
}

/// Sets how much the log tells: 0 is what it began with, or the default if that was more.
pub fn set_verbosity(verbosity: i32) {
    let Some(levels) = LEVELS.get() else { return };
    let more = usize::try_from(verbosity - 1).ok().map(|at| MORE[at.min(MORE.len() - 1)]);
    let filter = EnvFilter::new(more.unwrap_or(&levels.least));
    if let Err(error) = levels.handle.reload(filter) {
        tracing::warn!("the level of the log stays as it is: {error}");
    }
}

/// Waits until everything is written that was logged, for a bounded time: before an exit.
pub fn flush() {
    if let Some(queue) = QUEUE.get() {
        queue.flush(FLUSH_MAX);
    }
}

/// Writes a line to standard error, behind what has been logged.
pub fn note(line: impl Display) {
    match QUEUE.get() {
        Some(queue) => {
            queue.push(format!("{line}\n").as_bytes());
            queue.flush(FLUSH_MAX);
        }
        None => out::note(line),
    }
}

/// As the standard library prints it, but without waiting for a reader.
fn panicked(queue: &Queue, info: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let mut text = format!("thread '{name}' {info}\n");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        text += &format!("stack backtrace:\n{backtrace}");
    }
    queue.push(text.as_bytes());
    queue.flush(PANIC_FLUSH_MAX);
}

/// Writes an event as one line, whatever names clients have chosen: control characters are
/// escaped. Colours are left, which only the formatter writes.
struct Lines(Queue);

impl Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        self.0.push(line(&text).as_bytes());
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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

    #[test]
    fn a_panic_is_written() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let queue = Queue::start(Kept(written.clone()), RecentLines::default()).unwrap();
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| panicked(&queue, info)));
        let doomed = std::thread::Builder::new().name("doomed".to_owned());
        let ended = doomed.spawn(|| panic!("out of luck")).unwrap().join();
        std::panic::set_hook(usual);
        assert!(ended.is_err());
        let written = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert!(written.contains("thread 'doomed' panicked at "), "{written}");
        assert!(written.contains("out of luck"), "{written}");
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
