//! `freeboard bench`, on small sizes: that it measures, not how fast anything is.

use crate::binary::freeboard;

/// What a run prints as JSON.
fn bench(arguments: &[&str]) -> String {
    let output = freeboard()
        .args(["bench", "--seconds", "0.05", "--documents", "100", "--format", "json"])
        .args(arguments)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn pairs_are_compared_on_a_server_of_their_own() {
    let small = ["--growth", "--clients", "2", "--elements", "3000"];
    let report = bench(
        &[&small[..], &["--only", "policy_push,elsewhere_inc,stats_inc,push_length"]].concat(),
    );
    for expected in [
        r#""name": "policy_push""#,
        r#""base": "small_push""#,
        r#""other": "small_push_guarded""#,
        r#""measure": "CPU µs""#,
        r#""error": "#,
        r#""name": "stats_inc""#,
        r#""name": "push_length""#,
        r#""bound": "≤ 1.20""#,
        r#""name": "push_overflow_1m""#,
        r#""journal_bytes_per_op""#,
        r#""cpu_us_per_op""#,
    ] {
        assert!(report.contains(expected), "no {expected} in {report}");
    }
}

#[test]
fn workloads_on_demand_run_when_they_are_named() {
    let only = "push_one_document,push_one_document_alone";
    let report = bench(&["--clients", "3", "--only", only]);
    for expected in [r#""name": "push_one_document""#, r#""name": "push_one_document_alone""#] {
        assert!(report.contains(expected), "no {expected} in {report}");
    }
    assert!(!report.contains("pairs"), "{report}");
}

#[test]
fn a_pair_that_is_not_there_is_refused() {
    let output = freeboard().args(["bench", "--growth", "--only", "ping"]).output().unwrap();
    crate::binary::assert_failed(&output, "there is no pair \"ping\"; there are: policy_insert");
}
