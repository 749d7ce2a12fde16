//! What a policy will mean for the data that is there.

use bson::{Document, RawDocument, doc};
use command::Namespace;
use guard::Policy;
use insight::effect::{Longest, effect};
use mongodb::Database;
use std::error::Error;
use std::time::Duration;

/// How long documents are looked for that have an array.
const LOOK_TIME_MAX: Duration = Duration::from_secs(10);
/// The code of a command that has taken too long.
const MAX_TIME_MS_EXPIRED: i32 = 50;

/// What is to be said of a policy before it is set.
#[derive(Default)]
pub struct Look {
    /// Names that may be misspelt.
    pub warnings: Vec<String>,
    /// What applications will see of each array.
    pub effects: Vec<String>,
}

pub async fn look(
    database: &Database,
    collection: &str,
    policy: &RawDocument,
) -> Result<Look, Box<dyn Error>> {
    let namespace =
        Namespace::new(database.name(), collection).map_err(|it| it.message().to_owned())?;
    let policy = Policy::parse(&namespace, policy).map_err(|error| error.message().to_owned())?;
    let named = doc! { "name": collection };
    let there = database.list_collection_names().filter(named).await.map_err(jobs::Error::from)?;
    let mut look = Look::default();
    if there.is_empty() {
        look.warnings.push(format!(
            "there is no collection {namespace} yet: check the name, unless it is to come"
        ));
    }
    // What cannot be measured is left out of the sentences.
    let stats = database.run_command(doc! { "growthStats": collection }).await.unwrap_or_default();
    let is_empty = jobs::number(&stats, "documents") == 0;
    for rule in &policy.arrays {
        let path = rule.path.as_str();
        let longest = longest(&stats, path);
        if longest.is_none()
            && !is_empty
            && has_array(database, collection, path).await? == Some(false)
        {
            look.warnings.push(format!(
                "no document of {namespace} has an array '{path}': check the path, unless it is to \
                 come"
            ));
        }
        look.effects.push(format!("{path}: {}", effect(rule, longest)));
    }
    Ok(look)
}

/// The longest array at a path, as the server counts it.
fn longest(stats: &Document, path: &str) -> Option<Longest> {
    let array = stats.get_document("arrays").ok()?.get_document(path).ok()?;
    let known = jobs::number(array, "documents") > 0;
    let exact = array.get_bool("exact").unwrap_or(false);
    known.then(|| Longest { elements: jobs::number(array, "max"), exact })
}

/// Whether some document has an array at a path; `None` where there was no time to tell.
async fn has_array(
    database: &Database,
    collection: &str,
    path: &str,
) -> Result<Option<bool>, Box<dyn Error>> {
    let collection = database.collection::<Document>(collection);
    let found = collection
        .find_one(doc! { path: { "$type": "array" } })
        .projection(doc! { "_id": 1 })
        .max_time(LOOK_TIME_MAX);
    match found.await {
        Ok(found) => Ok(Some(found.is_some())),
        Err(error) => match &*error.kind {
            mongodb::error::ErrorKind::Command(said) if said.code == MAX_TIME_MS_EXPIRED => {
                Ok(None)
            }
            _ => Err(jobs::Error::from(error).into()),
        },
    }
}
