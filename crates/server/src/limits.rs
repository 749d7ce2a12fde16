//! The bounds of the server, in one place.

use std::time::Duration;

/// Connections open at once, where the operating system allows as many.
pub const CONNECTIONS_MAX: usize = 20_000;

/// Connections that wait to be accepted; the operating system may allow fewer. Further
/// ones try again after a second.
pub const WAITING_CONNECTIONS_MAX: u32 = 4_096;

/// A connection that has not sent its first message by then is closed.
pub const FIRST_MESSAGE_WAIT_MAX: Duration = Duration::from_secs(60);

/// A message that has begun must go on within this time.
pub const MESSAGE_STALL_MAX: Duration = Duration::from_secs(120);

/// How long commands in flight may take once the server stops. What stops
/// servers often kills them after ten seconds, and the store is closed after.
pub const STOP_WAIT_MAX: Duration = Duration::from_secs(5);

/// After `accept` fails, usually for lack of file descriptors, it is left alone
/// for this time instead of failing again at once.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What a connection's buffer has room for when the first bytes come.
pub const READ_BYTES: usize = 4 * 1024;

/// A header alone buys no more memory than this: a longer message gets room as
/// it arrives.
pub const READ_AHEAD_BYTES_MAX: usize = 64 * 1024;

/// After a message longer than this its buffer is given back.
pub const BUFFER_KEPT_BYTES_MAX: usize = 256 * 1024;

/// A client's description of itself, and the name of its application.
pub const CLIENT_METADATA_BYTES_MAX: usize = 512;
pub const APPLICATION_NAME_BYTES_MAX: usize = 128;

/// What `hello` announces.
pub const DOCUMENT_BYTES_MAX: i32 = 16 * 1024 * 1024;
pub const WRITE_BATCH_MAX: i32 = 100_000;
pub const WIRE_VERSION_MAX: i32 = 27;
pub use engine::session::SESSION_TIMEOUT_MINUTES;
