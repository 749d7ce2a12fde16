//! The allocator of the process.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Returns what is free to the system. The allocator does so by itself only while it is used.
#[allow(unsafe_code, reason = "the allocator's crate has no safe name for it")]
pub fn collect() {
    unsafe extern "C" {
        fn mi_collect(force: bool);
    }
    // SAFETY: it takes no pointers, and any thread may call it at any time.
    unsafe { mi_collect(true) }
}
