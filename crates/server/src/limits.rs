//! The bounds of the server, in one place.

use std::time::Duration;

/// Connections open at once, to all listeners, where descriptors and memory allow as many.
pub const CONNECTIONS_MAX: usize = 20_000;

/// Of these, connections to the HTTP side, and the share of a lower limit that they get.
pub const HTTP_CONNECTIONS_MAX: usize = 64;
pub const HTTP_CONNECTIONS_SHARE: usize = 8;

/// How long an HTTP connection may take with its one request, from its first byte to the
/// last of the answer.
pub const HTTP_CONNECTION_TIME_MAX: Duration = Duration::from_secs(10);

/// What an HTTP connection buffers.
pub const HTTP_BUFFER_BYTES_MAX: usize = 16 * 1024;

/// Descriptors that connections leave for the store's files, or half of all where that is
/// less.
pub const DESCRIPTORS_RESERVED: u64 = 1_000;

/// Connections that wait to be accepted; the operating system may allow fewer. Further
/// ones try again after a second.
pub const WAITING_CONNECTIONS_MAX: u32 = 4_096;

/// A connection that has not sent its first message by then is closed.
pub const FIRST_MESSAGE_WAIT_MAX: Duration = Duration::from_secs(60);

/// A message that has begun, and a reply that is being read, must go on within this time,
/// unless `Options` say otherwise.
pub const TRANSFER_STALL_MAX: Duration = Duration::from_secs(60);

/// On the whole a message or a reply must move at this rate, after the first
/// `TRANSFER_STALL_MAX`.
pub const TRANSFER_BYTES_PER_SECOND_MIN: u64 = 64 * 1024;

/// How long commands in flight may take once the server stops; then they are interrupted.
pub const STOP_GRACE: Duration = Duration::from_secs(1);

/// How long interrupted commands have to say so to their clients; then they are cut off.
pub const STOP_INTERRUPTED_WAIT: Duration = Duration::from_secs(1);

/// How long the backend has to close. What it has not done by then it recovers at the next
/// start.
pub const STOP_CLOSE_WAIT: Duration = Duration::from_millis(2_500);

/// From this length on, checking a message or compressing a reply is work to be done aside.
pub const LARGE_MESSAGE_BYTES: usize = 256 * 1024;

/// Replies of a streamed hello come no faster than this.
pub const HELLO_STREAM_INTERVAL_MIN: Duration = Duration::from_millis(100);

/// After `accept` fails, usually for lack of file descriptors, it is left alone
/// for this time instead of failing again at once.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What a connection's buffer has room for when the first bytes come.
pub const READ_BYTES: usize = 4 * 1024;

/// A header alone buys no more memory than this: a longer message gets room as
/// it arrives.
pub const READ_AHEAD_BYTES_MAX: usize = 64 * 1024;

/// After a message longer than this its buffer is given back, so that idle connections hold
/// no more than what the budget of memory leaves uncounted.
pub const BUFFER_KEPT_BYTES_MAX: usize = budget::FREE_BYTES;

/// A client's description of itself, and the name of its application.
pub const CLIENT_METADATA_BYTES_MAX: usize = 512;
pub const APPLICATION_NAME_BYTES_MAX: usize = 128;

/// What `hello` announces.
pub const DOCUMENT_BYTES_MAX: i32 = 16 * 1024 * 1024;
pub const WRITE_BATCH_MAX: i32 = 100_000;
pub const WIRE_VERSION_MAX: i32 = 27;
pub use command::SESSION_TIMEOUT_MINUTES;
