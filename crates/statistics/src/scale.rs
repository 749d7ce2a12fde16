//! The scale of histograms: numbers below 16 by themselves, and sixteen equal steps
//! between each power of two and the next, so that a step is never wider than a
//! sixteenth of what it begins with.

/// Steps between two powers of two, as a power of two.
const STEP_BITS: u32 = 4;
const STEPS: u32 = 1 << STEP_BITS;

/// The step that a number falls into.
pub fn step(number: u32) -> u16 {
    if number < STEPS {
        return number as u16;
    }
    let power = number.ilog2();
    let within = (number >> (power - STEP_BITS)) & (STEPS - 1);
    ((power - STEP_BITS + 1) * STEPS + within) as u16
}

/// The first number of a step, and how many there are.
pub fn bounds(step: u16) -> (u32, u32) {
    let step = u32::from(step);
    if step < STEPS {
        return (step, 1);
    }
    let shift = (step / STEPS - 1).min(u32::BITS - 1 - STEP_BITS);
    ((STEPS + step % STEPS) << shift, 1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_in_its_step() {
        let powers = (0..32).flat_map(|power| {
            let number = 1u32 << power;
            [number.saturating_sub(1), number, number.saturating_add(1)]
        });
        for number in (0..70_000).chain(powers).chain([u32::MAX]) {
            let (first, width) = bounds(step(number));
            assert!(first <= number && number - first < width, "{number}");
            assert!(width == 1 || width <= first / 16, "{number}");
        }
    }

    #[test]
    fn steps_follow_each_other() {
        for at in 0..step(u32::MAX) {
            let (first, width) = bounds(at);
            assert_eq!(bounds(at + 1).0, first + width, "{at}");
        }
    }
}
