//! The commands of the engine, one file each, and their table.

pub mod writes;

use crate::Engine;
use crate::operation::Operation;
use command::{Client, Command, Common, Reply, Request};
use error::{Code, Result};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};

/// A command being run.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub engine: &'a Arc<Engine>,
    pub request: &'a Request,
    pub common: &'a Common<'a>,
    pub client: &'a Client,
    pub operation: &'a Arc<Operation>,
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<Reply>> + Send + 'a>>;
type Handler = for<'a> fn(Call<'a>) -> Running<'a>;

/// Runs a command and keeps its figures.
pub async fn run(engine: &Arc<Engine>, request: Request, client: &Client) -> Result<Reply> {
    let name = request.name();
    let (row, handler) = find(name)
        .ok_or_else(|| Code::CommandNotFound.error(format!("no such command: '{name}'")))?;
    let common = Common::parse(&request, row)?;
    let limit = common.max_time_ms.filter(|ms| *ms > 0).map(|ms| Duration::from_millis(ms.into()));
    let running = engine.operations.begin(request.clone(), client, limit);
    let operation = &running.operation;
    let call = Call { engine, request: &request, common: &common, client, operation };
    let outcome = handler(call).await;
    profile::record(call, row, &outcome);
    outcome
}

/// Runs what may take long without keeping other tasks from their turn.
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
