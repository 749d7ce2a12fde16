//! The scenarios: one file each, one row each.

mod events;
mod sensors;
mod sharding;
mod shop;
mod social;
mod tenants;

use crate::Scenario;

/// By name, in alphabetical order.
pub const SCENARIOS: &[Scenario] = &[
    events::SCENARIO,
    sensors::SCENARIO,
    sharding::SCENARIO,
    shop::SCENARIO,
    social::SCENARIO,
    tenants::SCENARIO,
];

/// The scenario of this name.
pub fn scenario(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}
