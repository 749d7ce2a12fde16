//! What was found is repaired where that loses nothing, a transaction a document.

use super::{Check, Drift, Remedy};
use crate::Roles;
use crate::adopt::{Aim, mend_pages, remove_orphans, settle};
use bson::{RawBson, RawBsonRef};
use command::Namespace;
use error::{Error, Result};
use std::future::Future;
use std::ops::Deref;
use value::Path;
use write::{Backend, Transaction};

/// What a repair needs of its caller.
pub trait Repairing: Sync {
    /// Makes what the policy needs beside the data: indexes of pages, views.
    fn provide(&self, namespace: &Namespace) -> impl Future<Output = Result<()>> + Send;

    /// Says whose failure an error is: one drift's, or (`Err`) that of the whole repair.
    fn failed(&self, error: Error) -> Result<Error>;
}

impl Check {
    /// Repairs the drifts that are kept.
    pub async fn repair<B, R>(
        &mut self,
        backend: &B,
        namespace: &Namespace,
        repairing: &R,
    ) -> Result<()>
    where
        B: Backend,
        B::Transaction: Transaction<Guard: Deref<Target = Roles>>,
        R: Repairing,
    {
        let mut repaired = 0;
        // Drifts that one step repairs stand together, and are repaired together.
        let mut last: Option<(Step, bool)> = None;
        for (drift, is_repaired) in &mut self.drifts {
            let step = Step::of(drift);
            *is_repaired = match &last {
                Some((before, repaired)) if *before == step => *repaired,
                _ => match apply(backend, namespace, repairing, drift).await {
                    Ok(done) => done,
                    // What cannot be repaired is reported as it was found.
                    Err(error) => repairing.failed(error).map(|_| false)?,
                },
            };
            last = Some((step, *is_repaired));
            repaired += u64::from(*is_repaired);
        }
        self.repaired = Some(repaired);
        Ok(())
    }
}

/// What is repaired at once.
#[derive(PartialEq)]
struct Step {
    remedy: Remedy,
    id: Option<RawBson>,
    /// Pages are deleted array by array; all else is made right for all of a document.
    path: Option<String>,
}

impl Step {
    fn of(drift: &Drift) -> Step {
        let remedy = drift.kind.remedy();
        let path = (remedy == Remedy::Delete).then(|| drift.path.clone());
        Step { remedy, id: drift.id.clone(), path }
    }
}

/// Whether the drift was repaired.
async fn apply<B, R>(
    backend: &B,
    namespace: &Namespace,
    repairing: &R,
    drift: &Drift,
) -> Result<bool>
where
    B: Backend,
    B::Transaction: Transaction<Guard: Deref<Target = Roles>>,
    R: Repairing,
{
    let id = drift.id.as_ref().map_or(RawBsonRef::Null, |id| id.as_raw_bson_ref());
    match drift.kind.remedy() {
        Remedy::Counters => {
            settle(backend, namespace, id, Aim::Counters).await.map(|it| it.is_some())
        }
        Remedy::Pages => mend_pages(backend, namespace, id).await.map(|it| it.is_some()),
        Remedy::Delete => remove_orphans(backend, namespace, &Path::new(&drift.path), id).await,
        Remedy::Make => repairing.provide(namespace).await.map(|()| true),
        Remedy::Migrate | Remedy::None => Ok(false),
    }
}
