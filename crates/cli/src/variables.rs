//! Environment variables in the place of arguments.

use clap::{Arg, Command};
use std::ffi::{OsStr, OsString};

/// The server, where no URI is typed.
const URI: &str = "FREEBOARD_URI";
const SCHEMES: [&str; 2] = ["mongodb://", "mongodb+srv://"];

/// Flags, and the argument in whose place each stands: the variable of that one does not count
/// where the flag is typed.
const INSTEAD: [(&str, &str); 3] =
    [("--collection", "policy"), ("--sample", "full"), ("--with-policy", "documents_only")];

/// The command line as the environment has it. With `FREEBOARD_URI` the URI may be left out, and
/// what is typed first is the argument behind it; clap would take that for the URI. A variable
/// that is empty counts as not set.
pub fn adapt(command: Command, typed: impl IntoIterator<Item = OsString>) -> Command {
    let typed: Vec<String> =
        typed.into_iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let is_typed = |flag: &str| {
        typed
            .iter()
            .any(|it| it.strip_prefix(flag).is_some_and(|it| it.is_empty() || it.starts_with('=')))
    };
    let uri = typed.iter().any(|it| SCHEMES.iter().any(|scheme| it.starts_with(scheme)));
    let replaced = INSTEAD.into_iter().filter(|(flag, _)| is_typed(flag));
    let adaptation = Adaptation {
        uri_left_out: std::env::var_os(URI).is_some_and(|value| !value.is_empty()) && !uri,
        replaced: replaced.map(|(_, argument)| argument).collect(),
    };
    adaptation.each(command)
}

struct Adaptation {
    uri_left_out: bool,
    /// Arguments whose variables do not count.
    replaced: Vec<&'static str>,
}

impl Adaptation {
    fn each(&self, command: Command) -> Command {
        command
            .mut_args(|argument| self.adapted(argument))
            .mut_subcommands(|command| self.each(command))
    }

    fn adapted(&self, argument: Arg) -> Arg {
        // A URI may hold a password.
        let argument = argument.hide_env_values(true);
        let Some(variable) = argument.get_env() else { return argument };
        if self.uri_left_out && is_uri(&argument) {
            return argument.long("uri").hide(true).required(false);
        }
        let is_replaced = self.replaced.iter().any(|it| argument.get_id() == it);
        match is_replaced || is_empty(variable) {
            true => argument.env(None::<&'static str>),
            false => argument,
        }
    }
}

fn is_empty(variable: &OsStr) -> bool {
    std::env::var_os(variable).is_some_and(|value| value.is_empty())
}

fn is_uri(argument: &Arg) -> bool {
    argument.is_positional() && argument.get_env().is_some_and(|variable| variable == URI)
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, CommandFactory};
    use std::collections::BTreeMap;

    /// Flags that throw something away or change data.
    const DANGEROUS: [&str; 5] = ["drop", "repair", "resume", "undo", "with_policy"];

    fn arguments(command: &Command) -> Vec<Arg> {
        let own = command.get_arguments().cloned();
        own.chain(command.get_subcommands().flat_map(arguments)).collect()
    }

    fn values(argument: &Arg) -> Vec<String> {
        argument.get_possible_values().iter().map(|it| it.get_name().to_owned()).collect()
    }

    #[test]
    fn dangerous_flags_are_typed() {
        let all = arguments(&crate::Arguments::command());
        for name in DANGEROUS {
            let mut flags = all.iter().filter(|it| it.get_id() == name).peekable();
            assert!(flags.peek().is_some(), "no {name}");
            assert!(flags.all(|flag| flag.get_env().is_none()), "{name}");
        }
    }

    #[test]
    fn a_variable_means_the_same_everywhere() {
        let mut known = BTreeMap::new();
        for argument in arguments(&crate::Arguments::command()) {
            let Some(variable) = argument.get_env() else { continue };
            let taken = values(&argument);
            let first = known.entry(variable.to_owned()).or_insert_with(|| taken.clone());
            assert_eq!(*first, taken, "{}", variable.to_string_lossy());
        }
    }

    /// What is typed is given to positions from the first on, so only the last can be left out;
    /// the URI, the first, is seen to by `adapt`.
    #[test]
    fn only_the_first_and_the_last_of_positions_have_variables() {
        fn check(command: &Command) {
            let positions: Vec<&Arg> = command.get_positionals().collect();
            for (at, argument) in positions.iter().enumerate() {
                let free = super::is_uri(argument) || at + 1 == positions.len();
                assert!(free || argument.get_env().is_none(), "{}", argument.get_id());
            }
            command.get_subcommands().for_each(check);
        }
        check(&crate::Arguments::command());
    }
}
