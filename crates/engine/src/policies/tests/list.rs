//! The list of policies.

use super::*;

/// A reply has room for so many of them, and what is too much is said before it is read.
#[tokio::test(flavor = "multi_thread")]
async fn policies_that_fit_in_no_reply_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let mut arrays = RawDocumentBuf::new();
    for number in 0..500 {
        let path = format!("{number:03}{}", "x".repeat(1_000));
        arrays.append(<&bson::raw::CStr>::try_from(path.as_str()).unwrap(), rawdoc! { "max": 1 });
    }
    let policy = rawdoc! { "arrays": arrays };
    let list = || rawdoc! { "listGrowthPolicies": 1, "$db": "d" };
    for number in 0..33 {
        let name = format!("c{number}");
        let set = rawdoc! { "setGrowthPolicy": name, "$db": "d", "policy": policy.clone() };
        run(&engine, set).await.unwrap();
        if number == 10 {
            let listed = run(&engine, list()).await.unwrap();
            assert_eq!(listed.get_array("policies").unwrap().into_iter().count(), 11);
        }
    }
    let refused = run(&engine, list()).await.unwrap_err();
    assert_eq!(refused.code(), Code::BSONObjectTooLarge, "{refused:?}");
    engine.close().await;
}
