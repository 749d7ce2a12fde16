//! What the server keeps of one connection between its commands.

use command::Client;
use std::sync::Arc;
use wire::Compressor;

#[derive(Debug)]
pub(crate) struct Session {
    /// Shared with the operations it has under way.
    pub client: Arc<Client>,
    /// What the client and the server both speak, in the client's order.
    pub compressors: Vec<Compressor>,
    /// A command has run. From then on the client cannot describe itself anew.
    pub greeted: bool,
}

impl Session {
    pub fn new(client: Client) -> Session {
        Session { client: Arc::new(client), compressors: Vec::new(), greeted: false }
    }
}
