//! Flags as environment variables say them: `1` or `true`, `0` or `false`.

use clap::builder::BoolishValueParser;

pub fn boolean() -> BoolishValueParser {
    BoolishValueParser::new()
}

#[cfg(test)]
mod tests {
    use clap::{ArgAction, Command, CommandFactory};

    fn check(command: &Command) {
        for flag in command.get_arguments().filter(|it| it.get_env().is_some()) {
            if matches!(flag.get_action(), ArgAction::SetTrue) {
                let taken = flag.get_value_parser().possible_values().expect("a list");
                let taken: Vec<String> = taken.map(|it| it.get_name().to_owned()).collect();
                let is_taken = |text: &&str| taken.iter().any(|it| it == text);
                assert!(["1", "0", "true", "false"].iter().all(is_taken), "{}", flag.get_id());
            }
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn every_flag_takes_numbers() {
        check(&crate::Arguments::command());
    }
}
