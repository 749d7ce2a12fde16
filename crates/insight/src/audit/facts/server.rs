//! The server at the other end.

use crate::Error;
use crate::audit::Target;
use crate::audit::scan::is_refusal;
use bson::{Document, doc};
use mongodb::Client;
use mongodb::options::{ReadPreference, ReadPreferenceOptions, SelectionCriteria};
use std::sync::atomic::AtomicBool;

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
    /// Whether it refused options that only help; they are not sent again.
    pub plain: AtomicBool,
}

impl Server {
    /// Connects, and asks the server what it is.
    pub async fn connect(uri: &str, target: Option<Target>) -> Result<Server, Error> {
        let mut options = jobs::options(uri).await?;
        options.app_name = Some(APPLICATION.to_owned());
        // The primary has work of its own.
        options.selection_criteria.get_or_insert(SelectionCriteria::ReadPreference(
            ReadPreference::SecondaryPreferred { options: Some(ReadPreferenceOptions::default()) },
        ));
        let hosts: Vec<String> = options.hosts.iter().map(ToString::to_string).collect();
        let address = hosts.join(",");
        let database = options.default_database.clone();
        let client = jobs::reach(options).await?;
        let build_info = ask(&client, doc! { "buildInfo": 1 }).await?;
        let hello = ask(&client, doc! { "hello": 1 }).await?;
        let version = build_info.get_str("version").unwrap_or("unknown").to_owned();
        let kind = Target::detect(&build_info, &hello, &address);
        let target = target.unwrap_or(kind);
        let plain = AtomicBool::new(false);
        Ok(Server { client, address, version, kind, target, database, plain })
    }
}

/// Not every server answers what it is: then it is taken for MongoDB. One that answers
/// nothing at all is found out by what comes next.
async fn ask(client: &Client, command: Document) -> Result<Document, Error> {
    match client.database("admin").run_command(command).await {
        Err(error) if is_refusal(&error) => Ok(Document::new()),
        reply => reply.map_err(|error| Error::Client(error.into())),
    }
}
