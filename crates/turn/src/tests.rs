use super::*;

/// As many tasks as there are threads compute without an end in sight.
async fn others_run_beside(work: fn(Duration)) {
    let busy: Vec<_> = (0..4)
        .map(|_| {
            tokio::spawn(fair(async move {
                work(Duration::from_millis(600));
                tokio::task::yield_now().await;
            }))
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let asked = Instant::now();
    tokio::spawn(async {}).await.unwrap();
    let waited = asked.elapsed();
    assert!(busy.iter().any(|task| !task.is_finished()), "the work ended before anyone looked");
    assert!(waited < Duration::from_millis(200), "waited {waited:?}");
    for task in busy {
        task.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_checks_holds_nobody_up() {
    others_run_beside(|time| {
        let began = Instant::now();
        while began.elapsed() < time {
            check().unwrap();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_is_aside_holds_nobody_up() {
    others_run_beside(|time| aside(|| thread::sleep(time))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_is_over_after_a_while() {
    let over = fair(async {
        let early = is_over();
        thread::sleep(TURN_MAX);
        let late = is_over();
        tokio::task::yield_now().await;
        (early, late, is_over())
    });
    assert_eq!(tokio::spawn(over).await.unwrap(), (false, true, false));
    assert!(!is_over(), "outside of a turn nothing is over");
}

/// Far more work than there are cores: others are served all the same, and each gets its share.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn much_work_that_checks_holds_nobody_up() {
    let busy: Vec<_> = (0..100)
        .map(|_| {
            tokio::spawn(fair(async {
                let began = Instant::now();
                while began.elapsed() < Duration::from_secs(2) {
                    check().unwrap();
                }
            }))
        })
        .collect();
    let mut longest = Duration::ZERO;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let asked = Instant::now();
        tokio::spawn(async {}).await.unwrap();
        longest = longest.max(asked.elapsed());
    }
    assert!(longest < Duration::from_millis(500), "waited {longest:?}");
    for task in busy {
        task.await.unwrap();
    }
}

/// All slots are taken by work that waits for what another one holds that is in line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_blocks_in_its_slot_lets_others_go_on() {
    let held = std::sync::Arc::new(std::sync::Mutex::new(()));
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let held = held.clone();
            tokio::spawn(fair(async move {
                aside(|| {
                    let _held = held.lock().unwrap();
                    let began = Instant::now();
                    while began.elapsed() < Duration::from_millis(30) {
                        check().unwrap();
                    }
                });
            }))
        })
        .collect();
    for task in tasks {
        tokio::time::timeout(Duration::from_secs(20), task).await.expect("it ends").unwrap();
    }
}
