//! `waitForFailPoint`: `{waitForFailPoint: name, timesEntered: n, maxTimeMS: …}`.

use super::{Call, ok};
use crate::shared::Shared;
use command::fields::Fields;
use command::refused::not_found;
use command::{Common, Reply, Request};
use error::{Code, Result};
use std::time::Duration;

/// How long it waits at most.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// Waits until the point has been active so often, or the time is up.
pub(crate) async fn wait(shared: &Shared, request: &Request, common: &Common<'_>) -> Result<()> {
    let Some(points) = &shared.fail_points else { return Ok(()) };
    let time = common.max_time_ms.map_or(WAIT_MAX, |ms| Duration::from_millis(ms.into()));
    let reached = points.reach(super::first_string(request)?, times(request)?);
    tokio::select! {
        reached = reached => reached,
        // The command says that it has not been reached.
        () = tokio::time::sleep(time.min(WAIT_MAX)) => Ok(()),
        () = shared.stop.cancelled() => Ok(()),
    }
}

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let Some(points) = &call.shared.fail_points else {
        return Err(not_found("waitForFailPoint"));
    };
    if points.entered(super::first_string(call.request)?)? < times(call.request)? {
        return Err(Code::MaxTimeMSExpired.error("operation exceeded time limit"));
    }
    Ok(ok())
}

fn times(request: &Request) -> Result<u64> {
    let mut times = None;
    let mut fields = Fields::of_command(request, "waitForFailPoint")?;
    while let Some(field) = fields.next()? {
        match field.name() {
            "timesEntered" => times = field.safe_int64()?,
            _ => return Err(field.unknown()),
        }
    }
    let times = fields.required(times, "timesEntered")?;
    u64::try_from(times).map_err(|_| Code::BadValue.error("timesEntered must not be negative"))
}
