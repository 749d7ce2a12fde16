//! `$clusterTime` and `operationTime`, which end a reply.

use bson::spec::BinarySubtype;
use bson::{RawBinaryRef, RawBsonRef, Timestamp};
use value::DocumentWriter;

use super::Reply;

/// What stands for a signature where nobody checks one.
const NO_SIGNATURE: [u8; 20] = [0; 20];

pub fn append_cluster_time(reply: Reply, time: Timestamp) -> Reply {
    let mut writer = DocumentWriter::resume(reply.body);
    writer.begin_document("$clusterTime");
    writer.append("clusterTime", RawBsonRef::Timestamp(time));
    writer.begin_document("signature");
    let hash = RawBinaryRef { subtype: BinarySubtype::Generic, bytes: &NO_SIGNATURE };
    writer.append("hash", RawBsonRef::Binary(hash));
    writer.append_i64("keyId", 0);
    writer.end();
    writer.end();
    writer.append("operationTime", RawBsonRef::Timestamp(time));
    Reply { body: writer.finish() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{Binary, rawdoc};

    #[test]
    fn times_come_last() {
        let time = Timestamp { time: 7, increment: 1 };
        let hash = Binary { subtype: BinarySubtype::Generic, bytes: NO_SIGNATURE.to_vec() };
        let expected = rawdoc! {
            "ok": 1.0,
            "$clusterTime": { "clusterTime": time, "signature": { "hash": hash, "keyId": 0_i64 } },
            "operationTime": time,
        };
        assert_eq!(append_cluster_time(Reply::ok(), time).body, expected);
    }
}
