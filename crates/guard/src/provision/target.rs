//! What a collection must be for a policy to hold for it.

use crate::Roles;
use crate::policy::Policy;
use command::Namespace;
use error::{Code, Result};

/// A collection as a backend has it.
pub trait GuardedCollection {
    fn namespace(&self) -> &Namespace;
    fn is_view(&self) -> bool;
    fn is_capped(&self) -> bool;
    /// Whether its validator refuses every document that has this field.
    fn keeps_out(&self, field: &str) -> bool;
}

/// Refuses a collection or view that the policy of its name is not for.
pub fn check_kind(roles: Option<&Roles>, target: &impl GuardedCollection) -> Result<()> {
    let Some(policy) = roles.and_then(Roles::policy) else { return Ok(()) };
    let overflows = policy.overflows().next().is_some();
    if target.is_view() || (target.is_capped() && overflows) {
        return Err(Code::OperationFailed.error(format!(
            "{} has a growth policy that is not for a view or a capped collection; drop the \
             policy first",
            target.namespace()
        )));
    }
    check_validator(policy, target)
}

/// Refuses a validator that would refuse every document for what the policy writes into it.
pub fn check_validator(policy: &Policy, target: &impl GuardedCollection) -> Result<()> {
    for overflow in policy.overflows() {
        if let Some(counter) = overflow.named().find(|path| target.keeps_out(path.first())) {
            return Err(Code::InvalidOptions.error(format!(
                "the validator of {} allows no additional properties, and not the field \
                 '{counter}', by which the policy counts the array '{}'; name it and its like \
                 among the validator's properties, or give the counters other names (the policy \
                 keys 'arrays.{}.overflow.count', 'flag' and 'pages')",
                target.namespace(),
                overflow.path,
                overflow.path
            )));
        }
    }
    Ok(())
}
