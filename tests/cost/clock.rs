//! What the process has taken of the processor: unlike the time of day, it does not depend on
//! what else the machine does.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

pub fn used() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
