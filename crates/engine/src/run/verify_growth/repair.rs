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
        // Drifts of one document stand together, and are mended together.
        let mut last: Option<(Option<RawBson>, Remedy, bool)> = None;
        for (drift, mended) in &mut self.drifts {
            let remedy = drift.kind.remedy();
            *mended = match &last {
                Some((id, before, mended)) if *id == drift.id && *before == remedy => *mended,
                _ => mending.mend(drift, remedy).await?,
            };
            last = Some((drift.id.clone(), remedy, *mended));
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
            Err(error) => writing::of_statement(self.call, error).map(|_| false),
        }
    }
}
