//! The limit of work aside is the process's, so its test has one of its own.

use error::Code;
use freeboard_turn::{ASIDE_MAX, BLOCKING_THREADS_MAX, TURN_MAX, aside, check, fair};
use std::sync::{Arc, Barrier};
use std::thread;

#[test]
fn only_so_much_is_aside() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .build()
        .unwrap();
    // Everything waits aside until all have come.
    let all = Arc::new(Barrier::new(ASIDE_MAX + 1));
    let long: Vec<_> = (0..ASIDE_MAX)
        .map(|_| {
            let all = all.clone();
            runtime.spawn(fair(async move {
                aside(|| {
                    all.wait();
                    all.wait();
                });
            }))
        })
        .collect();
    all.wait();
    let next = runtime.spawn(fair(async {
        check()?;
        thread::sleep(TURN_MAX);
        check()
    }));
    let refused = runtime.block_on(next).unwrap().unwrap_err();
    assert_eq!(refused.code(), Code::IngressRequestRateLimitExceeded);
    all.wait();
    for task in long {
        runtime.block_on(task).unwrap();
    }
    let next = runtime.spawn(fair(async {
        check()?;
        thread::sleep(TURN_MAX);
        check()
    }));
    runtime.block_on(next).unwrap().unwrap();
}
