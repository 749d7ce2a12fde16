//! What the server keeps of one connection between its commands.

use command::Client;
use wire::Compressor;

#[derive(Debug)]
pub(crate) struct Session {
    pub client: Client,
    /// What the client and the server both speak, in the client's order.
    pub compressors: Vec<Compressor>,
    /// A command has run. From then on the client cannot describe itself anew.
    pub greeted: bool,
}

impl Session {
    pub fn new(client: Client) -> Session {
        Session { client, compressors: Vec::new(), greeted: false }
    }
}
