//! `$clusterTime` and `operationTime`, which end a reply.

use super::Reply;
use bson::{RawDocumentBuf, Timestamp};

/// The times of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// How far the server's clock has come.
    pub cluster: Timestamp,
    /// When the command was carried out.
    pub operation: Timestamp,
}

/// Around the first time. The signature is what stands for one where nobody checks it: a hash
/// of zeros, and key 0.
const CLUSTER: &[u8] = b"\x03$clusterTime\0\x58\0\0\0\x11clusterTime\0";
const SIGNATURE: &[u8] = b"\x03signature\0\x33\0\0\0\
    \x05hash\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \x12keyId\0\0\0\0\0\0\0\0\0\0\0";
const OPERATION: &[u8] = b"\x11operationTime\0";
/// A timestamp.
const TIME_BYTES: usize = 8;
pub(super) const BYTES: usize = CLUSTER.len() + SIGNATURE.len() + OPERATION.len() + 2 * TIME_BYTES;

/// Every reply ends with it, so the bytes are put together by hand.
pub fn append_cluster_time(reply: Reply, times: Times) -> Reply {
    let Reply { body, held } = reply;
    let mut bytes = body.into_bytes();
    // A large reply is not to take twice what it is.
    bytes.reserve_exact(BYTES);
    bytes.pop();
    bytes.extend_from_slice(CLUSTER);
    bytes.extend_from_slice(&encoded(times.cluster));
    bytes.extend_from_slice(SIGNATURE);
    bytes.extend_from_slice(OPERATION);
    bytes.extend_from_slice(&encoded(times.operation));
    bytes.push(0);
    let length = (bytes.len() as i32).to_le_bytes();
    if let Some(place) = bytes.first_chunk_mut() {
        *place = length;
    }
    // The bytes have the shape that is checked here, so there is no error.
    Reply { body: RawDocumentBuf::from_bytes(bytes).unwrap_or_default(), held }
}

fn encoded(time: Timestamp) -> [u8; TIME_BYTES] {
    (u64::from(time.time) << 32 | u64::from(time.increment)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::spec::BinarySubtype;
    use bson::{Binary, rawdoc};

    #[test]
    fn times_come_last() {
        let cluster = Timestamp { time: 7, increment: 2 };
        let operation = Timestamp { time: 7, increment: 1 };
        let hash = Binary { subtype: BinarySubtype::Generic, bytes: vec![0; 20] };
        let signature = rawdoc! { "hash": hash, "keyId": 0_i64 };
        let expected = rawdoc! {
            "ok": 1.0,
            "$clusterTime": { "clusterTime": cluster, "signature": signature },
            "operationTime": operation,
        };
        assert_eq!(append_cluster_time(Reply::ok(), Times { cluster, operation }).body, expected);
    }
}
