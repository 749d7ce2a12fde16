//! `buildInfo`: the version that is spoken, and what it was built for.

use super::{Call, reply};
use crate::limits::DOCUMENT_BYTES_MAX;
use bson::rawdoc;
use command::Reply;
use error::Result;

/// The MongoDB version that clients are to expect.
pub(crate) const VERSION: &str = "8.2.0";
pub(crate) const GIT_VERSION: &str = concat!("freeboard-", env!("CARGO_PKG_VERSION"));
const VERSION_ARRAY: [i32; 4] = [8, 2, 0, 0];

pub(super) fn run(_: &mut Call<'_>) -> Result<Reply> {
    let [major, minor, patch, extra] = VERSION_ARRAY;
    Ok(reply(rawdoc! {
        "version": VERSION,
        "gitVersion": GIT_VERSION,
        "modules": [],
        "allocator": "mimalloc",
        "javascriptEngine": "none",
        "sysInfo": "deprecated",
        "versionArray": [major, minor, patch, extra],
        "openssl": { "running": "disabled", "compiled": "disabled" },
        "buildEnvironment": {
            "target_arch": std::env::consts::ARCH,
            "target_os": std::env::consts::OS,
        },
        "bits": (usize::BITS as i32),
        "debug": (cfg!(debug_assertions)),
        "maxBsonObjectSize": DOCUMENT_BYTES_MAX,
        "storageEngines": ["freeboard"],
    }))
}
