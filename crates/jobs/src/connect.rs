//! Where a job finds its server and collection.

use crate::Error;
use bson::RawDocumentBuf;
use mongodb::options::ClientOptions;
use mongodb::{Client, Collection};
use std::time::Duration;

/// How long a server may take to answer the first command, where the URI does not say.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// A client of the server at a URI.
pub async fn client(uri: &str) -> Result<Client, Error> {
    let mut options = ClientOptions::parse(uri).await.map_err(Error::Uri)?;
    options.server_selection_timeout.get_or_insert(SELECTION_TIMEOUT);
    options.app_name.get_or_insert_with(|| "freeboard".to_owned());
    Client::with_options(options).map_err(Error::Uri)
}

/// The collection of a namespace, as `database.collection`.
pub fn collection(client: &Client, namespace: &str) -> Result<Collection<RawDocumentBuf>, Error> {
    match namespace.split_once('.') {
        Some((database, name)) if !database.is_empty() && !name.is_empty() => {
            Ok(client.database(database).collection(name))
        }
        _ => Err(Error::Use(format!(
            "{namespace:?} is no namespace; name a collection as database.collection"
        ))),
    }
}
