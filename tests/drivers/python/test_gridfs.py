"""Files in chunks, as pymongo's GridFS keeps them."""

import os

import pytest
from gridfs import GridFSBucket, NoFile

CHUNK_BYTES = 100_000


@pytest.fixture
def bucket(db):
    return GridFSBucket(db, chunk_size_bytes=CHUNK_BYTES)


def test_a_file_is_read_back_whole_and_in_ranges(bucket):
    data = os.urandom(12 * CHUNK_BYTES + 7)
    stored = bucket.upload_from_stream("random", data, metadata={"kind": "noise"})
    assert bucket.open_download_stream(stored).read() == data
    stream = bucket.open_download_stream(stored)
    stream.seek(3 * CHUNK_BYTES - 5)
    assert stream.read(2 * CHUNK_BYTES) == data[3 * CHUNK_BYTES - 5 : 5 * CHUNK_BYTES - 5]
    [found] = bucket.find({"metadata.kind": "noise"})
    assert (found.length, found.filename) == (len(data), "random")


def test_revisions_are_found_by_name(bucket):
    for revision in (b"first", b"second", b"third"):
        bucket.upload_from_stream("notes", revision)
    by_name = [bucket.open_download_stream_by_name("notes", at).read() for at in (0, 1, -1)]
    assert by_name == [b"first", b"second", b"third"]


def test_a_deleted_or_aborted_file_leaves_no_chunks(bucket, db):
    stored = bucket.upload_from_stream("gone", b"x" * (3 * CHUNK_BYTES))
    bucket.rename(stored, "gone too")
    bucket.delete(stored)
    with pytest.raises(NoFile):
        bucket.open_download_stream(stored)
    aborted = bucket.open_upload_stream("aborted")
    aborted.write(b"x" * (2 * CHUNK_BYTES))
    aborted.abort()
    assert db["fs.chunks"].count_documents({}) == 0


def test_the_indexes_are_those_that_drivers_agree_on(bucket, db):
    bucket.upload_from_stream("any", b"x")
    chunks = db["fs.chunks"].index_information()["files_id_1_n_1"]
    assert (chunks["key"], chunks["unique"]) == ([("files_id", 1), ("n", 1)], True)
    assert "filename_1_uploadDate_1" in db["fs.files"].index_information()
