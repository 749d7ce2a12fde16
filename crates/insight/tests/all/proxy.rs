//! A server in between: it passes commands on to a real one, answers some of them itself as
//! other servers would, and counts the documents that finds are sent.

use bson::{Document, RawDocumentBuf, doc};
use mongodb::Client;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

const OP_MSG: i32 = 2013;
const HEADER_BYTES: usize = 16;
/// The header, the flags and the kind of the first section.
const BEFORE_DOCUMENT_BYTES: usize = HEADER_BYTES + 5;

/// What becomes of a command.
pub enum Turn {
    Pass,
    Answer(RawDocumentBuf),
    /// The collection is dropped, then the command goes on.
    Drop(&'static str),
    /// Documents are deleted, then the command goes on.
    Delete(&'static str, Document),
}

/// The name of a command, the collection it is for, and all of it.
pub struct Command {
    pub name: String,
    pub collection: String,
    pub body: Document,
}

type Rule = dyn Fn(&Command) -> Turn + Send + Sync;

pub struct Proxy {
    /// Without the scheme.
    pub address: String,
    pub uri: String,
    documents: Arc<AtomicU64>,
    accepting: JoinHandle<()>,
}

struct Link {
    server: String,
    client: Client,
    rule: Arc<Rule>,
    documents: Arc<AtomicU64>,
}

impl Proxy {
    /// In front of a server, with a rule for each command.
    pub async fn new(
        client: &Client,
        server: &str,
        rule: impl Fn(&Command) -> Turn + Send + Sync + 'static,
    ) -> Proxy {
        let server = server.trim_start_matches("mongodb://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let documents = Arc::new(AtomicU64::new(0));
        let link = Arc::new(Link {
            server,
            client: client.clone(),
            rule: Arc::new(rule),
            documents: documents.clone(),
        });
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(link.clone(), stream));
            }
        });
        let uri = format!("mongodb://{address}/");
        Proxy { address, uri, documents, accepting }
    }

    /// How many documents finds were sent.
    pub fn documents(&self) -> u64 {
        self.documents.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// A refusal.
pub fn refused(code: i32, name: &str, message: &str) -> Turn {
    let reply = doc! { "ok": 0.0, "errmsg": message, "code": code, "codeName": name };
    Turn::Answer(RawDocumentBuf::try_from(&reply).unwrap())
}

pub fn unauthorized() -> Turn {
    refused(13, "Unauthorized", "not authorized on shop to execute command")
}

async fn serve(link: Arc<Link>, stream: TcpStream) {
    let Ok(server) = TcpStream::connect(&link.server).await else { return };
    let (mut from_client, to_client) = stream.into_split();
    let (from_server, mut to_server) = server.into_split();
    let to_client = Arc::new(Mutex::new(to_client));
    let replies =
        tokio::spawn(pass_replies(from_server, to_client.clone(), link.documents.clone()));
    while let Some(message) = read(&mut from_client).await {
        let turn = command(&message).map_or(Turn::Pass, |command| (link.rule)(&command));
        let shop = link.client.database("shop");
        match turn {
            Turn::Answer(reply) => {
                let reply = reply_to(&message, &reply);
                if to_client.lock().await.write_all(&reply).await.is_err() {
                    break;
                }
                continue;
            }
            Turn::Drop(name) => shop.collection::<Document>(name).drop().await.unwrap(),
            Turn::Delete(name, filter) => {
                shop.collection::<Document>(name).delete_many(filter).await.unwrap();
            }
            Turn::Pass => {}
        }
        if to_server.write_all(&message).await.is_err() {
            break;
        }
    }
    replies.abort();
}

async fn pass_replies(
    mut from_server: OwnedReadHalf,
    to_client: Arc<Mutex<OwnedWriteHalf>>,
    documents: Arc<AtomicU64>,
) {
    while let Some(message) = read(&mut from_server).await {
        if let Some(cursor) = body(&message).as_ref().and_then(|it| it.get_document("cursor").ok())
            && cursor.get_str("ns").is_ok_and(|ns| !ns.contains("system.") && !ns.contains('$'))
        {
            let batch = cursor.get_array("firstBatch").or(cursor.get_array("nextBatch"));
            // Rows of statistics have no `_id`.
            let rows = batch.into_iter().flatten().filter_map(|it| it.as_document());
            let sent = rows.filter(|row| row.contains_key("_id")).count() as u64;
            documents.fetch_add(sent, Ordering::Relaxed);
        }
        if to_client.lock().await.write_all(&message).await.is_err() {
            return;
        }
    }
}

async fn read(from: &mut OwnedReadHalf) -> Option<Vec<u8>> {
    let mut message = vec![0; HEADER_BYTES];
    from.read_exact(&mut message).await.ok()?;
    let length = u32::from_le_bytes(*message.first_chunk()?) as usize;
    message.resize(length, 0);
    from.read_exact(message.get_mut(HEADER_BYTES..)?).await.ok()?;
    Some(message)
}

fn body(message: &[u8]) -> Option<Document> {
    let operation = i32::from_le_bytes(*message.get(12..)?.first_chunk()?);
    let rest = message.get(BEFORE_DOCUMENT_BYTES..).filter(|_| operation == OP_MSG)?;
    let length = u32::from_le_bytes(*rest.first_chunk()?) as usize;
    Document::from_reader(rest.get(..length)?).ok()
}

fn command(message: &[u8]) -> Option<Command> {
    let body = body(message)?;
    let (name, value) = body.iter().next()?;
    let collection = body.get_str("collection").ok().or(value.as_str()).unwrap_or("");
    Some(Command { name: name.clone(), collection: collection.to_owned(), body: body.clone() })
}

fn reply_to(request: &[u8], reply: &RawDocumentBuf) -> Vec<u8> {
    let length = BEFORE_DOCUMENT_BYTES + reply.as_bytes().len();
    let mut message = Vec::with_capacity(length);
    message.extend((length as u32).to_le_bytes());
    message.extend(0_i32.to_le_bytes());
    // In answer to the request of this number.
    message.extend_from_slice(&request[4..8]);
    message.extend(OP_MSG.to_le_bytes());
    message.extend(0_u32.to_le_bytes());
    message.push(0);
    message.extend_from_slice(reply.as_bytes());
    message
}
