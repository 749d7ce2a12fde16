//! What was found is mended where that loses nothing.

use super::Check;
use crate::run::writes::Writes;
use crate::run::{Call, writing};
use bson::{RawBson, RawBsonRef};
use command::Namespace;
use error::Result;
use guard::Policy;
use guard::adopt::{Aim, mend_pages, remove_orphans, settle};
use guard::verify::{Drift, Remedy};
use value::Path;

impl Check {
    pub(super) async fn repair(
        &mut self,
        call: Call<'_>,
        namespace: &Namespace,
        policy: &Policy,
    ) -> Result<()> {
        let writes = Writes::of(call);
        let mending = Mending { call, writes: &writes, namespace };
        let mut repaired = 0;
        // Drifts that one step mends stand together, and are mended together.
        let mut last: Option<(Step, bool)> = None;
        for (drift, mended) in &mut self.drifts {
            let step = Step::of(drift);
            *mended = match &last {
                Some((before, mended)) if *before == step => *mended,
                _ => mending.mend(drift, step.remedy).await?,
            };
            last = Some((step, *mended));
            repaired += u64::from(*mended);
        }
        self.repaired = Some(repaired);
        if !policy.is_counted() {
            let interrupt = &call.operation.interrupt;
            call.engine.adopt(namespace, &writes, None, interrupt).await?;
        }
        writes.acknowledge(call.common.write_concern.as_ref()).await
    }
}

/// What is mended at once.
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

struct Mending<'a> {
    call: Call<'a>,
    writes: &'a Writes,
    namespace: &'a Namespace,
}

impl Mending<'_> {
    /// Whether the drift was mended.
    async fn mend(&self, drift: &Drift, remedy: Remedy) -> Result<bool> {
        let id = drift.id.as_ref().map_or(RawBsonRef::Null, |id| id.as_raw_bson_ref());
        let (writes, namespace) = (self.writes, self.namespace);
        let outcome = match remedy {
            Remedy::Counters => {
                settle(writes, namespace, id, Aim::Counters).await.map(|it| it.is_some())
            }
            Remedy::Pages => mend_pages(writes, namespace, id).await.map(|it| it.is_some()),
            Remedy::Delete => remove_orphans(writes, namespace, &Path::new(&drift.path), id).await,
            Remedy::Make => self.call.engine.remake_pages(namespace).await.map(|()| true),
            Remedy::Migrate | Remedy::None => Ok(false),
        };
        match outcome {
            Ok(mended) => Ok(mended),
            // What cannot be mended is told as it was found, unless all is to stop.
            Err(error) => {
                writing::of_statement(self.call.statement().map(|it| &**it), error).map(|_| false)
            }
        }
    }
}
