//! The server at the other end.

use crate::Error;
use crate::audit::Target;
use bson::{Document, doc};
use mongodb::Client;
use mongodb::options::{ClientOptions, ReadPreference, ReadPreferenceOptions, SelectionCriteria};
use std::time::Duration;

/// How long a server may take to answer the first command, where the URI does not say.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// What the server's log and profiler call this client.
pub const APPLICATION: &str = "freeboard audit";

#[derive(Debug)]
pub struct Server {
    pub client: Client,
    /// Hosts and ports, without user and password.
    pub address: String,
    pub version: String,
    /// What it is, and whose limits it is judged by.
    pub kind: Target,
    pub target: Target,
    /// The database that the URI names.
    pub database: Option<String>,
}

impl Server {
    /// Connects, and asks the server what it is.
    pub async fn connect(uri: &str, target: Option<Target>) -> Result<Server, Error> {
        let mut options = ClientOptions::parse(uri).await.map_err(jobs::Error::Uri)?;
        options.server_selection_timeout.get_or_insert(SELECTION_TIMEOUT);
        options.app_name = Some(APPLICATION.to_owned());
        // The primary has work of its own.
        options.selection_criteria.get_or_insert(SelectionCriteria::ReadPreference(
            ReadPreference::SecondaryPreferred { options: Some(ReadPreferenceOptions::default()) },
        ));
        let hosts: Vec<String> = options.hosts.iter().map(ToString::to_string).collect();
        let address = hosts.join(",");
        let database = options.default_database.clone();
        let client = Client::with_options(options).map_err(jobs::Error::Uri)?;
        let build_info = ask(&client, doc! { "buildInfo": 1 }).await?;
        let hello = ask(&client, doc! { "hello": 1 }).await?;
        let version = build_info.get_str("version").unwrap_or("unknown").to_owned();
        let kind = Target::detect(&build_info, &hello, &address);
        let target = target.unwrap_or(kind);
        Ok(Server { client, address, version, kind, target, database })
    }
}

async fn ask(client: &Client, command: Document) -> Result<Document, Error> {
    let reply = client.database("admin").run_command(command).await;
    reply.map_err(|error| Error::Client(error.into()))
}
