//! The limit of work aside is the process's, so its test has one of its own.

use error::Code;
use freeboard_turn::{ASIDE_MAX, BLOCKING_THREADS_MAX, TURN_MAX, aside, check, fair};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

#[test]
fn only_so_much_is_aside() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .build()
        .unwrap();
    // Everything goes on aside until all have come, and then until they may end.
    let (come, may_end) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let long: Vec<_> = (0..ASIDE_MAX)
        .map(|_| {
            let (come, may_end) = (come.clone(), may_end.clone());
            runtime.spawn(fair(async move {
                aside(|| {
                    come.fetch_add(1, Ordering::SeqCst);
                    while !may_end.load(Ordering::SeqCst) {
                        check().unwrap();
                    }
                });
            }))
        })
        .collect();
    while come.load(Ordering::SeqCst) < ASIDE_MAX {
        thread::sleep(TURN_MAX);
    }
    let next = runtime.spawn(fair(async {
        check()?;
        thread::sleep(TURN_MAX);
        check()
    }));
    let refused = runtime.block_on(next).unwrap().unwrap_err();
    assert_eq!(refused.code(), Code::IngressRequestRateLimitExceeded);
    may_end.store(true, Ordering::SeqCst);
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
