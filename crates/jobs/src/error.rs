//! Why a job could not be done, in one sentence that says what to do.

use mongodb::error::ErrorKind;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug)]
pub enum Error {
    /// The URI is none.
    Uri(mongodb::error::Error),
    /// No host of the URI answers.
    NoServer {
        hosts: String,
        why: String,
        /// The URI asks for TLS.
        tls: bool,
    },
    /// A host of the URI answers, and belongs to another replica set or to none.
    NotInSet {
        host: String,
        set: String,
    },
    /// The driver or the server behind it.
    Client(mongodb::error::Error),
    /// A file could not be opened, read or written.
    File(PathBuf, std::io::Error),
    Io(std::io::Error),
    /// Wrong use.
    Use(String),
    /// The input cannot be read any further.
    Input(String),
    Interrupted,
}

/// What is said where a server is no Freeboard.
const NO_POLICIES: &str = "this server keeps no growth policies, only Freeboard does; give the URI \
                           of a Freeboard, or use the cures that 'freeboard audit' prints for this \
                           server";
/// What to do where a server does not let the user do something.
const WHO_MAY: &str =
    "; name a user who may do this in the URI, as mongodb://user:password@host:27017";
/// The code of what a user may not do.
const UNAUTHORIZED: i32 = 13;
/// The code of a command that a server does not know.
const COMMAND_NOT_FOUND: i32 = 59;
/// And that of DocumentDB, which says "Unknown request"; others have it for what they know and
/// do not do.
const COMMAND_NOT_SUPPORTED: i32 = 115;

impl std::error::Error for Error {}

impl Error {
    /// Whether the server did not answer, or not to the end.
    pub fn is_unreachable(&self) -> bool {
        let error = match self {
            Error::NoServer { .. } | Error::NotInSet { .. } => return true,
            Error::Client(error) => error,
            _ => return false,
        };
        matches!(
            &*error.kind,
            ErrorKind::Io(_)
                | ErrorKind::ServerSelection { .. }
                | ErrorKind::ConnectionPoolCleared { .. }
        )
    }

    /// Why a command about growth policies failed. Only Freeboard knows these commands.
    pub fn of_policies(error: impl Into<Error>) -> Error {
        let error = error.into();
        match error.is_unknown_command() {
            true => Error::Use(NO_POLICIES.to_owned()),
            false => error,
        }
    }

    pub(crate) fn is_unknown_command(&self) -> bool {
        let Error::Client(error) = self else { return false };
        let ErrorKind::Command(error) = &*error.kind else { return false };
        error.code == COMMAND_NOT_FOUND
            || (error.code == COMMAND_NOT_SUPPORTED && error.message.starts_with("Unknown"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Uri(error) => {
                write!(f, "this is no URI of a server, such as mongodb://host:27017: ")?;
                f.write_str(&explain(error))
            }
            Error::NoServer { hosts, why, tls: true } if why.contains("certificate") => write!(
                f,
                "the certificate of the server at {hosts} is not trusted ({why}); name the file \
                 of those that sign such certificates in the URI, as tlsCAFile=FILE, or trust any \
                 with tlsAllowInvalidCertificates=true"
            ),
            Error::NoServer { hosts, why, tls: false } if why.contains("reset by peer") => write!(
                f,
                "the server at {hosts} closes the connection ({why}); if it speaks TLS, add \
                 tls=true to the URI"
            ),
            Error::NoServer { hosts, why, tls: false } => write!(
                f,
                "no server answers at {hosts} ({why}); check the address, and that a server is \
                 running there"
            ),
            Error::NoServer { hosts, why, tls: true } => write!(
                f,
                "no server answers at {hosts} over TLS ({why}); check the address, and leave tls \
                 out of the URI if the server does not speak it, as Freeboard's does not"
            ),
            Error::NotInSet { host, set } => write!(
                f,
                "the server at {host} is no member of the replica set {set}; leave replicaSet out \
                 of the URI, or start Freeboard with --replica-set {set}"
            ),
            Error::Client(error) => {
                f.write_str(&explain(error))?;
                match is_unauthorized(error) {
                    true => f.write_str(WHO_MAY),
                    false => Ok(()),
                }
            }
            Error::File(path, error) => {
                write!(f, "{}: {error}; check its name and who may use it", path.display())
            }
            Error::Io(error) => write!(f, "{error}"),
            Error::Use(message) | Error::Input(message) => f.write_str(message),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

fn is_unauthorized(error: &mongodb::error::Error) -> bool {
    matches!(&*error.kind, ErrorKind::Command(error) if error.code == UNAUTHORIZED)
}

/// What the driver says, without its own names for things.
pub fn explain(error: &mongodb::error::Error) -> String {
    match &*error.kind {
        ErrorKind::Authentication { message, .. } => {
            format!("the server refused the user name or password of the URI: {message}")
        }
        ErrorKind::Command(error) => {
            format!("the server answered {} ({}): {}", error.code, error.code_name, error.message)
        }
        ErrorKind::ServerSelection { message, .. } => {
            let why = why(message).map(|why| format!(" ({why})")).unwrap_or_default();
            format!("no server answers; check the address and that one is running{why}")
        }
        ErrorKind::ConnectionPoolCleared { message, .. } => {
            let why = message.split_once(" failed with: ").map_or(&**message, |(_, why)| why);
            let why = plain(why);
            format!("the connection was lost ({why}); check that the server is running")
        }
        ErrorKind::InvalidArgument { message, .. } => message.clone(),
        ErrorKind::Io(error) => {
            format!("the connection was lost ({error}); check that the server is running")
        }
        kind => plain(&kind.to_string()).to_owned(),
    }
}

/// What went wrong with the first server of those that the driver describes, if it says so:
/// it tells all it knows of all of them.
fn why(topology: &str) -> Option<&str> {
    let (_, error) = topology.split_once(" Error: ")?;
    error.contains(LABELS).then(|| plain(error))
}

/// Where the driver begins what only programmers ask for: the labels and the source.
const LABELS: &str = ", labels: ";

/// One error of the driver within another's message, in its own words alone.
fn plain(error: &str) -> &str {
    let error = error.split_once(LABELS).map_or(error, |(error, _)| error);
    let error = error.strip_prefix("Kind: ").unwrap_or(error);
    error.strip_prefix("I/O error: ").unwrap_or(error)
}

impl From<mongodb::error::Error> for Error {
    fn from(error: mongodb::error::Error) -> Error {
        Error::Client(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_is_not_there_is_told_in_a_sentence() {
        let error = crate::client("mongodb://127.0.0.1:1").await.unwrap_err();
        assert!(error.is_unreachable());
        assert_eq!(
            error.to_string(),
            "no server answers at 127.0.0.1:1 (Connection refused (os error 111)); check the \
             address, and that a server is running there"
        );
        let uri = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100";
        let client = mongodb::Client::with_uri_str(uri).await.unwrap();
        let error = client.list_database_names().await.unwrap_err();
        assert_eq!(
            explain(&error),
            "no server answers; check the address and that one is running \
             (Connection refused (os error 111))"
        );
        assert_eq!(why("Server selection timeout: No available servers. Topology: {}"), None);
    }

    /// What the driver tells the operations that wait while another one finds the server gone.
    #[test]
    fn an_error_within_another_is_told_without_its_labels() {
        let inner = "Kind: I/O error: unexpected end of file, labels: {\"A\"}, source: None";
        assert_eq!(plain(inner), "unexpected end of file");
        assert_eq!(plain("as it is"), "as it is");
    }
}
