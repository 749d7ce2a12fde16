//! Fail points: failures on demand, so that clients can test how they cope with them.
//!
//! They are evaluated around a command, whatever backend runs it: before it a point may hold
//! the connection up, close it or answer with an error; after it a point may add an error of
//! write concern, or lose the reply. There are none unless the server takes test commands.

mod failure;
mod mode;
mod target;

pub(crate) use failure::{Failure, kill_cursor};
pub(crate) use mode::Mode;
pub(crate) use target::Target;

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::Reply;
use command::fields::{is_true, safe_i64};
use error::{Code, Error, Result};
use parking_lot::Mutex;
use tokio::sync::Notify;
use value::element::get;

const FAIL_COMMAND: &str = "failCommand";
const FAIL_GET_MORE: &str = "failGetMoreAfterCursorCheckout";
const FAIL_WRITE: &str = "onPrimaryTransactionalWrite";
const NAMES: [&str; 3] = [FAIL_COMMAND, FAIL_GET_MORE, FAIL_WRITE];

#[derive(Debug, Default)]
pub(crate) struct FailPoints {
    points: Mutex<[Point; NAMES.len()]>,
    /// Rings when a point has been entered.
    entered: Notify,
}

#[derive(Debug, Default)]
struct Point {
    mode: Mode,
    data: RawDocumentBuf,
    /// How often it has been active.
    entered: u64,
}

impl FailPoints {
    /// Sets a point, and says how often it has been active before.
    pub fn configure(&self, name: &str, mode: Mode, data: RawDocumentBuf) -> Result<u64> {
        let at = index(name)?;
        let mut points = self.points.lock();
        let Some(point) = points.get_mut(at) else { return Err(unknown(name)) };
        point.mode = mode;
        point.data = data;
        Ok(point.entered)
    }

    /// How often a point has been active.
    pub fn entered(&self, name: &str) -> Result<u64> {
        let at = index(name)?;
        Ok(self.points.lock().get(at).map_or(0, |point| point.entered))
    }

    /// Waits until a point has been active so often.
    pub async fn reach(&self, name: &str, times: u64) -> Result<()> {
        loop {
            let entered = self.entered.notified();
            if self.entered(name)? >= times {
                return Ok(());
            }
            entered.await;
        }
    }

    /// The data of a point, if it is active for what they say.
    fn enter(&self, name: &str, is_meant: impl Fn(&RawDocument) -> bool) -> Option<RawDocumentBuf> {
        let mut points = self.points.lock();
        let point = points.get_mut(index(name).ok()?)?;
        if point.mode == Mode::Off || !is_meant(&point.data) || !point.mode.enter() {
            return None;
        }
        point.entered += 1;
        self.entered.notify_waiters();
        Some(point.data.clone())
    }

    /// What becomes of a command before it runs.
    pub fn before(&self, target: &Target<'_>) -> Option<Failure> {
        let acts = |data: &RawDocument| {
            flag(data, "closeConnection")
                || flag(data, "blockConnection")
                || get(data, "errorCode").is_some()
        };
        let meant = |data: &RawDocument| acts(data) && target.is_named(data);
        if let Some(data) = self.enter(FAIL_COMMAND, meant) {
            return Some(Failure::command(&data, target));
        }
        let is_getting = target.command.name == "getMore";
        if is_getting && let Some(data) = self.enter(FAIL_GET_MORE, |data| target.is_sender(data)) {
            return Some(Failure::get_more(&data));
        }
        // A write that fails before its commit; the others are evaluated once it is done.
        let fails = |data: &RawDocument| get(data, BEFORE_COMMIT).is_some();
        if target.is_retryable_write()
            && let Some(data) = self.enter(FAIL_WRITE, fails)
        {
            return Some(Failure::write(&data, target));
        }
        None
    }

    /// The reply of a command that ran; none where it gets lost.
    pub fn after(&self, target: &Target<'_>, reply: Reply) -> Option<Reply> {
        let commits = |data: &RawDocument| get(data, BEFORE_COMMIT).is_none();
        for _ in 0..target.statements_done(&reply) {
            let data = self.enter(FAIL_WRITE, commits);
            if data.is_some_and(|data| flag_or(&data, "closeConnection", true)) {
                return None;
            }
        }
        let meant =
            |data: &RawDocument| get(data, WRITE_CONCERN_ERROR).is_some() && target.is_named(data);
        let is_ok = matches!(reply.body.get_f64("ok"), Ok(1.0));
        if !is_ok || !target.command.write_concern {
            return Some(reply);
        }
        match self.enter(FAIL_COMMAND, meant) {
            Some(data) => Some(failure::with_write_concern_error(reply, &data, target)),
            None => Some(reply),
        }
    }
}

const BEFORE_COMMIT: &str = "failBeforeCommitExceptionCode";
const WRITE_CONCERN_ERROR: &str = "writeConcernError";

fn index(name: &str) -> Result<usize> {
    NAMES.iter().position(|known| *known == name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    Code::FailPointSetFailed.error(format!("{name} not found"))
}

fn flag(data: &RawDocument, name: &str) -> bool {
    flag_or(data, name, false)
}

fn flag_or(data: &RawDocument, name: &str, otherwise: bool) -> bool {
    get(data, name).map_or(otherwise, |field| is_true(field.value()))
}

/// A number of the data, which is a code or a time.
fn number(data: &RawDocument, name: &str) -> Option<i64> {
    safe_i64(get(data, name)?.value())
}

fn strings<'a>(data: &'a RawDocument, name: &str) -> Option<Vec<&'a str>> {
    let RawBsonRef::Array(array) = get(data, name)?.value() else { return None };
    Some(value::element::array_elements(array).filter_map(|it| it.value().as_str()).collect())
}
