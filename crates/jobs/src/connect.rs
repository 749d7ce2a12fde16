//! Where a job finds its server.

use crate::Error;
use bson::doc;
use mongodb::Client;
use mongodb::error::ErrorKind;
use mongodb::event::EventHandler;
use mongodb::event::sdam::SdamEvent;
use mongodb::options::{ClientOptions, ServerAddress};
use std::collections::HashSet;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How long a server may take to answer the first command, where the URI does not say.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// An attempt to reach a server that failed.
type Failed = (ServerAddress, mongodb::error::Error);

/// A client of the server at a URI.
pub async fn client(uri: &str) -> Result<Client, Error> {
    let mut options = ClientOptions::parse(uri).await.map_err(Error::Uri)?;
    options.app_name.get_or_insert_with(|| "freeboard".to_owned());
    reach(options).await
}

/// A client whose server has answered. The driver tries again and again until its selection
/// timeout; a server that is not there is an error as soon as every host has failed once, unless
/// the URI asks for patience with `serverSelectionTimeoutMS`.
pub async fn reach(mut options: ClientOptions) -> Result<Client, Error> {
    let hosts = options.hosts.clone();
    let (sender, failures) = unbounded_channel();
    if options.server_selection_timeout.is_none() {
        options.server_selection_timeout = Some(SELECTION_TIMEOUT);
        options.sdam_event_handler = Some(EventHandler::callback(move |event| {
            if let SdamEvent::ServerHeartbeatFailed(event) = event {
                // Without a receiver the client is in use, and its commands fail by themselves.
                let _ = sender.send((event.server_address, event.failure));
            }
        }));
    }
    let client = Client::with_options(options).map_err(Error::Uri)?;
    let admin = client.database("admin");
    tokio::select! {
        answer = admin.run_command(doc! { "ping": 1 }).into_future() => match answer {
            // A server that refuses the command is there.
            Err(error) if !matches!(*error.kind, ErrorKind::Command(_)) => Err(error.into()),
            _ => Ok(client),
        },
        why = all_failed(&hosts, failures) => {
            let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            Err(Error::NoServer { hosts: hosts.join(", "), why })
        }
    }
}

/// Waits until every host has failed, and gives why the last one did.
async fn all_failed(hosts: &[ServerAddress], mut failures: UnboundedReceiver<Failed>) -> String {
    let mut failed = HashSet::new();
    while let Some((host, error)) = failures.recv().await {
        failed.insert(host);
        if hosts.iter().all(|host| failed.contains(host)) {
            return match &*error.kind {
                ErrorKind::Io(error) => error.to_string(),
                kind => kind.to_string(),
            };
        }
    }
    std::future::pending().await
}

/// Database and collection of a namespace, as `database.collection`.
pub fn split(namespace: &str) -> Result<(&str, &str), Error> {
    match namespace.split_once('.') {
        Some((database, name)) if !database.is_empty() && !name.is_empty() => Ok((database, name)),
        _ => Err(Error::Use(format!(
            "{namespace:?} is no namespace; name a collection as database.collection"
        ))),
    }
}
