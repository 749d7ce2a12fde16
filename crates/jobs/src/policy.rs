//! A growth policy, checked before anything is done that the policy comes after.

use crate::Error;
use crate::overflow::Guarded;
use bson::{Document, doc};
use guard::policy::Overflow;
use mongodb::Database;
use mongodb::error::ErrorKind;

/// Whether the server would set a policy as things are now.
pub async fn check(database: &Database, collection: &str, policy: &Document) -> Result<(), Error> {
    let set = doc! {
        "setGrowthPolicy": collection, "policy": policy.clone(), "dryRun": true, "count": false,
    };
    database.run_command(set).await.map(drop).map_err(Error::of_policies)
}

/// Whether it would once the collection's pages are gone. The server refuses for these before
/// it looks at where the new pages are to go, so that is looked at here.
pub async fn check_without_pages(
    database: &Database,
    collection: &str,
    policy: &Document,
) -> Result<(), Error> {
    let Err(refused) = check(database, collection, policy).await else { return Ok(()) };
    let Some(old) = Guarded::of(database, collection).await? else { return Err(refused) };
    let new = Guarded::parse(database, collection, policy.clone())?;
    let mut lost = old.policy().pages_lost(Some(new.policy()));
    if !lost.any(|was| is_for_pages(&refused, was)) {
        return Err(refused);
    }
    for now in new.overflows() {
        if !old.overflows().any(|was| was.into == now.into) {
            check_empty(database, now).await?;
        }
    }
    Ok(())
}

/// Whether a policy is refused since an array of the present one has pages.
fn is_for_pages(refused: &Error, was: &Overflow) -> bool {
    let Error::Client(error) = refused else { return false };
    let ErrorKind::Command(error) = &*error.kind else { return false };
    let why = format!("the policy key 'arrays.{}' has pages in '{}'", was.path, was.into);
    error.message.starts_with(&why)
}

async fn check_empty(database: &Database, now: &Overflow) -> Result<(), Error> {
    let into = database.collection::<Document>(&now.into.collection);
    match into.estimated_document_count().await? {
        0 => Ok(()),
        _ => Err(Error::Use(format!(
            "the policy key 'arrays.{}' overflows into '{}', which holds documents already; \
             expected a collection that is empty or not there",
            now.path, now.into
        ))),
    }
}
