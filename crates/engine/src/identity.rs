//! How the server presents itself in replies.

/// Who answers: `explain`, `$indexStats` and others say so.
#[derive(Debug, Clone)]
pub struct Identity {
    pub host: String,
    pub port: u16,
    /// The MongoDB version that clients are to expect.
    pub version: &'static str,
    pub git_version: &'static str,
}

impl Identity {
    pub fn host_and_port(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// An engine without a server around it.
impl Default for Identity {
    fn default() -> Identity {
        Identity { host: "localhost".to_owned(), port: 27017, version: "", git_version: "" }
    }
}
