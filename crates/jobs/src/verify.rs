//! Collections compared with what their policies have kept of them.

use crate::long::Long;
use crate::progress::Progress;
use crate::{Error, connect, number};
use bson::{Bson, Document, doc};
use mongodb::Client;

#[derive(Debug)]
pub struct Verify<'a> {
    pub uri: &'a str,
    /// Only this database.
    pub database: Option<&'a str>,
    /// Mend what can be mended safely.
    pub repair: bool,
}

/// How a collection stands.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Verified {
    pub namespace: String,
    pub documents: u64,
    pub elements: u64,
    pub pages: u64,
    /// Documents over some bound of their policy.
    pub oversize: u64,
    pub over: Vec<String>,
    /// What is not as the policy has it, and the first of it in words.
    pub drifted: u64,
    pub drift: Vec<String>,
    /// What has been mended.
    pub repaired: u64,
    pub mended: Vec<String>,
}

impl Verified {
    pub fn is_clean(&self) -> bool {
        self.oversize == 0 && self.drifted == 0
    }
}

impl Verify<'_> {
    /// Verifies every collection that has a policy.
    pub async fn run(&self) -> Result<Vec<Verified>, Error> {
        let client = connect::client(self.uri).await?;
        let there = client.list_database_names().await?;
        let databases = match self.database {
            Some(database) => vec![database.to_owned()],
            None => there.clone(),
        };
        let mut verified = Vec::new();
        for database in databases {
            for name in policies(&client, &database).await? {
                verified.push(collection(&client, &database, &name, self.repair).await?);
            }
        }
        match self.database {
            Some(database) if verified.is_empty() && !there.iter().any(|it| it == database) => {
                Err(Error::Use(format!(
                    "there is no database {database}, so nothing was verified; check its name"
                )))
            }
            _ => Ok(verified),
        }
    }
}

/// The collections of a database that have policies.
async fn policies(client: &Client, database: &str) -> Result<Vec<String>, Error> {
    let reply = client.database(database).run_command(doc! { "listGrowthPolicies": 1 }).await;
    let reply = reply.map_err(Error::of_policies)?;
    let policies = reply.get_array("policies").map(Vec::as_slice).unwrap_or_default();
    let names = policies.iter().filter_map(Bson::as_document);
    Ok(names.filter_map(|it| it.get_str("collection").ok()).map(str::to_owned).collect())
}

/// Verifies a collection. What was mended is looked at once more.
pub async fn collection(
    client: &Client,
    database: &str,
    name: &str,
    repair: bool,
) -> Result<Verified, Error> {
    let first = run(client, database, name, repair).await?;
    let mut verified = Verified::of(&first);
    let mended: Vec<String> =
        documents(&first, "drift").filter(|it| is_mended(it)).map(drift).collect();
    let repaired = number(&first, "repaired");
    if repaired > 0 {
        verified = Verified::of(&run(client, database, name, false).await?);
    }
    Ok(Verified { repaired, mended, ..verified })
}

async fn run(client: &Client, database: &str, name: &str, repair: bool) -> Result<Document, Error> {
    let long = Long {
        client,
        database,
        command: doc! { "verifyGrowth": name, "repair": repair },
        known_by: doc! { "command.verifyGrowth": name, "command.$db": database },
    };
    long.run(&Progress::documents("verifying", Some(0))).await.map_err(Error::of_policies)
}

impl Verified {
    fn of(reply: &Document) -> Verified {
        Verified {
            namespace: reply.get_str("ns").unwrap_or_default().to_owned(),
            documents: number(reply, "documents"),
            elements: number(reply, "elements"),
            pages: number(reply, "pages"),
            oversize: number(reply, "oversize"),
            over: documents(reply, "over").map(over).collect(),
            drifted: number(reply, "drifted"),
            drift: documents(reply, "drift").map(drift).collect(),
            ..Verified::default()
        }
    }
}

fn documents<'a>(reply: &'a Document, list: &str) -> impl Iterator<Item = &'a Document> {
    let items = reply.get_array(list).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Bson::as_document)
}

fn is_mended(drift: &Document) -> bool {
    drift.get_bool("repaired").unwrap_or(false)
}

/// A document that failed, in words.
pub fn failed(failed: &Document) -> String {
    let id = failed.get("_id").cloned().unwrap_or(Bson::Null);
    format!("{id}: {}", failed.get_str("errmsg").unwrap_or_default())
}

/// A document over a bound, in words.
pub fn over(over: &Document) -> String {
    let id = over.get("_id").cloned().unwrap_or(Bson::Null);
    let bytes = number(over, "bytes");
    let size = match over.get_str("path") {
        Ok(path) => format!(
            "document {id}: the array '{path}' has {} elements and {bytes} bytes",
            number(over, "elements")
        ),
        Err(_) => format!("document {id}: it has {bytes} bytes"),
    };
    match over.get_str("reason") {
        Ok(reason) => format!("{size}; {reason}"),
        Err(_) => size,
    }
}

/// A drift in words.
fn drift(drift: &Document) -> String {
    let text = |key: &str| drift.get(key).map_or_else(|| "none".to_owned(), Bson::to_string);
    let path = drift.get_str("path").unwrap_or_default();
    let place = match drift.get("_id") {
        Some(id) => format!("document {id}, array '{path}'"),
        None => format!("array '{path}'"),
    };
    let page = number(drift, "page");
    let (found, expected) = (text("found"), text("expected"));
    let what = match drift.get_str("kind").unwrap_or_default() {
        "count" => format!("its count is {found}, expected {expected}"),
        "bytes" => format!("what its elements take is kept as {found}, expected {expected}"),
        "firstPage" => format!("its first page is kept as {found}, expected {expected}"),
        "flag" => format!("its flag of pages is {found}, expected {expected}"),
        "pages" => format!("its number of pages is {found}, expected {expected}"),
        "emptyPage" => format!("page {page} is empty"),
        "index" => format!("the index {expected} of the pages is missing"),
        "view" => format!("the view {expected} is missing or another"),
        "orphan" => format!("page {page} has no document"),
        "pageBounds" => format!("page {page} is over its bounds, {found}; use 'freeboard migrate'"),
        "pageCount" => format!("page {page} says that it holds {found}, expected {expected}"),
        "pageOrder" => format!("two pages have the number {page}"),
        "pageShape" => format!("page {page} has {found}, expected {expected}"),
        other => format!("{other}: {found}, expected {expected}"),
    };
    format!("{place}: {what}")
}
