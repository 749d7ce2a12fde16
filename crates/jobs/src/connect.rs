//! Where a job finds its server.

use crate::Error;
use bson::doc;
use mongodb::Client;
use mongodb::error::ErrorKind;
use mongodb::event::EventHandler;
use mongodb::event::sdam::SdamEvent;
use mongodb::options::{ClientOptions, ServerAddress, Tls};
use std::collections::HashSet;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How long a server may take to answer the first command, where the URI does not say.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// The scheme of URIs whose hosts are in DNS.
const SRV: &str = "mongodb+srv://";
const SRV_UNKNOWN: &str = "mongodb+srv:// is not supported; name the hosts that it stands for, as \
                           mongodb://host1:27017,host2:27017/?tls=true ('nslookup -type=SRV \
                           _mongodb._tcp.HOST' lists them)";

/// What became of an attempt to reach a server.
enum Attempt {
    Failed(ServerAddress, mongodb::error::Error),
    /// It is there, and not in the set that the URI names.
    NotInSet(ServerAddress),
}

/// What a URI says.
pub async fn options(uri: &str) -> Result<ClientOptions, Error> {
    if uri.starts_with(SRV) {
        return Err(Error::Use(SRV_UNKNOWN.to_owned()));
    }
    ClientOptions::parse(uri).await.map_err(Error::Uri)
}

/// A client of the server at a URI.
pub async fn client(uri: &str) -> Result<Client, Error> {
    let mut options = options(uri).await?;
    options.app_name.get_or_insert_with(|| "freeboard".to_owned());
    reach(options).await
}

/// A client whose server has answered. The driver tries again and again until its selection
/// timeout; a server that is not there is an error as soon as every host has failed once, unless
/// the URI asks for patience with `serverSelectionTimeoutMS`.
pub async fn reach(mut options: ClientOptions) -> Result<Client, Error> {
    let (hosts, set) = (options.hosts.clone(), options.repl_set_name.clone());
    let tls = matches!(options.tls, Some(Tls::Enabled(_)));
    let (sender, attempts) = unbounded_channel();
    if options.server_selection_timeout.is_none() {
        options.server_selection_timeout = Some(SELECTION_TIMEOUT);
        let set = set.clone();
        options.sdam_event_handler = Some(EventHandler::callback(move |event| {
            let attempt = match event {
                SdamEvent::ServerHeartbeatFailed(event) => {
                    Attempt::Failed(event.server_address, event.failure)
                }
                SdamEvent::ServerHeartbeatSucceeded(event)
                    if set.is_some() && event.reply.get_str("setName").ok() != set.as_deref() =>
                {
                    Attempt::NotInSet(event.server_address)
                }
                _ => return,
            };
            // Without a receiver the client is in use, and its commands fail by themselves.
            let _ = sender.send(attempt);
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
        last = all_failed(&hosts, attempts) => Err(match last {
            Attempt::NotInSet(host) => {
                Error::NotInSet { host: host.to_string(), set: set.unwrap_or_default() }
            }
            Attempt::Failed(_, error) => {
                let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
                Error::NoServer { hosts: hosts.join(", "), why: why(&error), tls }
            }
        }),
    }
}

/// Waits until every host has failed, and gives how the last one did. A host that answers and
/// is in another set tells more than one that does not.
async fn all_failed(hosts: &[ServerAddress], mut attempts: UnboundedReceiver<Attempt>) -> Attempt {
    let mut failed = HashSet::new();
    let mut told = None;
    while let Some(attempt) = attempts.recv().await {
        let (Attempt::Failed(host, _) | Attempt::NotInSet(host)) = &attempt;
        failed.insert(host.clone());
        if !matches!(told, Some(Attempt::NotInSet(_))) {
            told = Some(attempt);
        }
        if hosts.iter().all(|host| failed.contains(host))
            && let Some(told) = told.take()
        {
            return told;
        }
    }
    std::future::pending().await
}

fn why(error: &mongodb::error::Error) -> String {
    match &*error.kind {
        ErrorKind::Io(error) => error.to_string(),
        kind => kind.to_string(),
    }
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
