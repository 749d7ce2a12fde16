//! A server under measurement.

use mongodb::options::WriteConcern;

use crate::site::{DATABASE, Site};
use crate::{Error, Options};

pub struct Target {
    /// `own`, or the host and port.
    pub name: String,
    /// Without user and password.
    pub uri: String,
    /// The server that this run has started.
    pub own: bool,
    /// Whether it has a process to itself.
    pub apart: bool,
    pub site: Site,
}

impl Target {
    /// Connects, with one connection for each client.
    pub async fn connect(uri: &str, own: bool, run: &Options) -> Result<Target, Error> {
        let mut options = jobs::options(uri).await?;
        let connections = u32::try_from(run.clients).unwrap_or(u32::MAX).max(1);
        options.max_pool_size = Some(connections);
        options.min_pool_size = Some(connections);
        options.app_name = Some("freeboard bench".to_owned());
        // The workloads that mean durability say so themselves.
        options.write_concern = Some(WriteConcern::nodes(1));
        let name = match options.hosts.first() {
            Some(host) if !own => host.to_string(),
            _ => "own".to_owned(),
        };
        let database = jobs::reach(options).await?.database(DATABASE);
        Ok(Target {
            name,
            uri: without_credentials(uri),
            own,
            apart: !own,
            site: Site {
                uri: uri.to_owned(),
                database,
                clients: run.clients,
                documents: run.documents,
                elements: run.elements,
            },
        })
    }
}

fn without_credentials(uri: &str) -> String {
    match (uri.find("://"), uri.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => {
            format!("{}{}", &uri[..scheme + 3], &uri[at + 1..])
        }
        _ => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn a_password_is_not_printed() {
        assert_eq!(
            without_credentials("mongodb://ann:p@ss@host:27017/?w=1"),
            "mongodb://host:27017/?w=1"
        );
        assert_eq!(without_credentials("mongodb://host"), "mongodb://host");
    }
}
