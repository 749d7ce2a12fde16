//! Starting and stopping.

use crate::backend::{Backend, Here};
use crate::recent::RecentLines;
use crate::replica_set::{Member, ReplicaSet};
use crate::run::{GIT_VERSION, VERSION};
use crate::{accept, http, limits, memory, shared::Shared, warnings};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

#[derive(Debug, Clone)]
pub struct Options {
    /// `host:port`; port 0 takes any that is free.
    pub listen: String,
    /// `host:port` of the HTTP side, if there is to be one.
    pub http: Option<String>,
    /// Answer as the primary of a replica set of one instead of as a mongos.
    pub replica_set: Option<ReplicaSet>,
    /// Take the commands that let clients test how they cope with failures.
    pub test_commands: bool,
    /// Listen off this machine though anyone who reaches the server owns its data.
    pub allow_open: bool,
    pub connections_max: usize,
    /// What the whole process may take; `None` for a share of the machine's memory.
    pub memory_bytes: Option<u64>,
    /// Returns what the allocator keeps to the system.
    pub collect_memory: Option<fn()>,
    /// How long a message that has begun, or a reply, may stay where it is.
    pub transfer_stall_max: Duration,
    /// Sets how much the log tells, in MongoDB's numbers.
    pub set_verbosity: Option<fn(i32)>,
    /// What the log has told last.
    pub recent_lines: RecentLines,
}

impl Options {
    /// A server on any free port of this machine, without HTTP: for tests.
    pub fn local() -> Options {
        Options {
            listen: "127.0.0.1:0".to_owned(),
            http: None,
            replica_set: None,
            test_commands: false,
            allow_open: false,
            connections_max: limits::CONNECTIONS_MAX,
            memory_bytes: None,
            collect_memory: None,
            transfer_stall_max: limits::TRANSFER_STALL_MAX,
            set_verbosity: None,
            recent_lines: RecentLines::default(),
        }
    }
}

/// A server that runs. Dropping it stops the server without waiting.
#[derive(Debug)]
pub struct Running {
    pub address: SocketAddr,
    pub http_address: Option<SocketAddr>,
    stop: CancellationToken,
    failed: JoinHandle<String>,
    finished: Option<JoinHandle<()>>,
}

/// Why a server did not start, in one sentence that says what to do.
#[derive(Debug)]
pub struct StartError(String);

/// A server whose sockets are bound, and whose memory has its budget. It serves once there is a
/// backend: that is opened afterwards, so that a server which cannot listen leaves data alone.
pub struct Bound {
    options: Options,
    listeners: Listeners,
}

struct Listeners {
    clients: TcpListener,
    address: SocketAddr,
    http: Option<TcpListener>,
    http_address: Option<SocketAddr>,
    member: Option<Member>,
}

/// Takes the addresses that a server is to listen on.
pub async fn bind(options: Options) -> Result<Bound, StartError> {
    let listeners = Listeners::bind(&options).await?;
    set_memory(&options)?;
    Ok(Bound { options, listeners })
}

impl Bound {
    /// Serves clients in front of a backend.
    pub fn serve<B: Backend>(self, backend: B) -> Running {
        run(self.options, self.listeners, backend)
    }
}

/// Gives the process its budget of memory.
fn set_memory(options: &Options) -> Result<(), StartError> {
    let bytes = options.memory_bytes.unwrap_or_else(memory::default_bytes);
    let least = budget::MEMORY_BYTES_MIN;
    if bytes < least {
        return Err(StartError(format!(
            "a memory budget of {bytes} bytes is too little; give at least {} MB with --memory",
            least >> 20
        )));
    }
    budget::process().set_memory(bytes);
    Ok(())
}

fn run<B: Backend>(options: Options, listeners: Listeners, backend: B) -> Running {
    let Listeners { clients, address, http, http_address, member } = listeners;
    let backend = Arc::new(backend);
    let shared = Arc::new(Shared::new(options, address, http_address, member, backend.clone()));
    for warning in &shared.warnings {
        warn!("{warning}");
    }
    let (host, port) = (&*shared.hostname, address.port());
    backend.listening(Here { host, port, version: VERSION, git_version: GIT_VERSION });
    let stop = shared.stop.clone();
    if let Some(collect) = shared.options.collect_memory {
        tokio::spawn(memory::give_back(collect, stop.clone()));
    }
    let failed = tokio::spawn({
        let backend = backend.clone();
        async move { backend.failed().await }
    });
    let http = http.map(|listener| tokio::spawn(http::serve(listener, shared.clone())));
    let finished = tokio::spawn(async move {
        accept::accept(clients, shared, backend.clone()).await;
        if let Some(http) = http {
            http.abort();
        }
        if tokio::time::timeout(limits::STOP_CLOSE_WAIT, backend.stop()).await.is_err() {
            warn!("closing took too long; the next start recovers what was left");
        }
    });
    let shares = budget::process().shares();
    info!(
        memory_mb = budget::process().memory_bytes() >> 20,
        cache_mb = shares.cache_bytes >> 20,
        requests_mb = shares.requests_bytes >> 20,
        "memory budget"
    );
    info!("listening on {address}");
    if let Some(http_address) = http_address {
        info!("serving HTTP on {http_address}");
    }
    Running { address, http_address, stop, failed, finished: Some(finished) }
}

impl Listeners {
    async fn bind(options: &Options) -> Result<Listeners, StartError> {
        let clients = listen(&options.listen, "--listen", options.allow_open).await?;
        let address = local_address(&clients)?;
        let set = options.replica_set.as_ref();
        let member = set.map(|set| set.member(&options.listen, address)).transpose()?;
        let http = match &options.http {
            Some(listen) => Some(self::listen(listen, "--http", options.allow_open).await?),
            None => None,
        };
        let http_address = http.as_ref().map(local_address).transpose()?;
        Ok(Listeners { clients, address, http, http_address, member })
    }
}

impl Running {
    /// Waits for a failure with which there is no use in going on, and says which.
    pub async fn failed(&mut self) -> String {
        match (&mut self.failed).await {
            Ok(why) => why,
            Err(error) => error.to_string(),
        }
    }

    /// Takes no more connections, lets the commands in flight finish, and
    /// returns when everything is closed.
    pub async fn stop(mut self) {
        self.stop.cancel();
        self.failed.abort();
        if let Some(finished) = self.finished.take() {
            // It ends early only by a panic, which the runtime has reported.
            let _ = finished.await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.failed.abort();
        self.stop.cancel();
    }
}

async fn listen(listen: &str, flag: &str, allow_open: bool) -> Result<TcpListener, StartError> {
    let listener = listen_on(listen, flag).await?;
    let address = local_address(&listener)?;
    if !allow_open && !warnings::is_private(address) {
        return Err(StartError(format!(
            "{address} can be reached from other machines, and there are no users yet: anyone \
             there could read and change everything; listen on 127.0.0.1 with {flag}, or say \
             with --allow-open that this is meant"
        )));
    }
    Ok(listener)
}

async fn listen_on(listen: &str, flag: &str) -> Result<TcpListener, StartError> {
    open(listen).await.map_err(|error| {
        StartError(match error.kind() {
            io::ErrorKind::AddrInUse => format!(
                "{listen} is in use by another process; stop it or choose another address with {flag}"
            ),
            io::ErrorKind::InvalidInput => format!(
                "cannot listen on {listen} ({error}); give host and port with {flag}, such as \
                 127.0.0.1:27017"
            ),
            _ => format!("cannot listen on {listen} ({error}); choose another address with {flag}"),
        })
    })
}

/// Listens on the first address of a name that can be listened on.
async fn open(listen: &str) -> io::Result<TcpListener> {
    let mut outcome = Err(io::ErrorKind::AddrNotAvailable.into());
    for address in lookup_host(listen).await? {
        outcome = open_address(address);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

fn open_address(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server that starts anew gets its address back at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(limits::WAITING_CONNECTIONS_MAX)
}

fn local_address(listener: &TcpListener) -> Result<SocketAddr, StartError> {
    listener
        .local_addr()
        .map_err(|error| StartError(format!("the listening socket has no address: {error}")))
}

impl StartError {
    pub fn new(message: impl Into<String>) -> StartError {
        StartError(message.into())
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}
