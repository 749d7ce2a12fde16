//! Arrays of which documents keep only a head: read with their pages, and counted.

mod assemble;
mod count;
mod export;
mod pages;
mod snapshot;

pub use count::count_elements;
pub use export::Joined;

use crate::Error;
use bson::{Document, RawDocumentBuf, doc};
use command::Namespace;
use guard::Policy;
use guard::policy::Overflow;
use mongodb::Database;
use std::sync::Arc;
use value::Path;

/// The growth policy of a collection.
#[derive(Debug)]
pub struct Guarded {
    policy: Policy,
    /// As the server has it.
    pub document: Document,
    /// Whether every document says of its arrays what is so, where the policy names a field for
    /// that: all have been looked at since it was set, and it is not being left.
    pub are_counters_kept: bool,
}

impl Guarded {
    /// `None` where there is no policy, and on servers without growth policies.
    pub async fn of(database: &Database, collection: &str) -> Result<Option<Guarded>, Error> {
        let ask = doc! { "getGrowthPolicy": collection };
        let mut reply = match database.run_command(ask).await.map_err(Error::from) {
            Err(error) if error.is_unknown_command() => return Ok(None),
            reply => reply?,
        };
        match reply.remove("policy") {
            Some(bson::Bson::Document(document)) => {
                let is = |name: &str, default: bool| reply.get_bool(name).unwrap_or(default);
                let are_counters_kept = is("counted", true) && !is("leaving", false);
                let guarded = Guarded::parse(database, collection, document)?;
                Ok(Some(Guarded { are_counters_kept, ..guarded }))
            }
            _ => Ok(None),
        }
    }

    pub fn parse(
        database: &Database,
        collection: &str,
        document: Document,
    ) -> Result<Guarded, Error> {
        let unknown = |why: String| {
            let namespace = format!("{}.{collection}", database.name());
            Error::Input(format!("the growth policy of {namespace} is not understood: {why}"))
        };
        let policy =
            RawDocumentBuf::try_from(&document).map_err(|error| unknown(error.to_string()))?;
        let policy = Namespace::new(database.name(), collection)
            .and_then(|namespace| Policy::parse(&namespace, &policy))
            .map_err(|error| unknown(error.message().to_owned()))?;
        Ok(Guarded { policy, document, are_counters_kept: false })
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The rules of arrays that overflow.
    pub fn overflows(&self) -> impl Iterator<Item = &Arc<Overflow>> {
        self.policy.overflows()
    }

    pub fn overflow(&self, path: &Path) -> Option<&Arc<Overflow>> {
        self.overflows().find(|rule| rule.path == *path)
    }
}
