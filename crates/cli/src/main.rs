//! The `freeboard` binary: one file a subcommand.

mod allocator;
mod apply;
mod audit;
mod backup;
mod bench;
mod boolean;
mod demo;
mod export;
mod format;
mod import;
mod inspect;
mod log;
mod migrate;
mod out;
mod place;
mod serve;
mod size;
mod span;
mod stop;
mod variables;
mod verify;
mod words;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Wrong use or failure; clap exits with the same for arguments it refuses.
const FAILURE: u8 = 2;

/// A document database that speaks MongoDB's protocol and keeps documents in
/// bounds.
#[derive(Parser)]
#[command(name = "freeboard", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Apply(apply::Arguments),
    Audit(audit::Arguments),
    Backup(backup::Arguments),
    Bench(bench::Arguments),
    Demo(demo::Arguments),
    Export(export::Arguments),
    Import(import::Arguments),
    Inspect(inspect::Arguments),
    Migrate(migrate::Arguments),
    Serve(serve::Arguments),
    Verify(verify::Arguments),
}

fn main() -> ExitCode {
    let matches = variables::adapt(Arguments::command(), std::env::args_os()).get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let result = match arguments.command {
        Command::Apply(arguments) => apply::run(arguments),
        Command::Audit(arguments) => audit::run(arguments),
        Command::Backup(arguments) => backup::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Import(arguments) => import::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Migrate(arguments) => migrate::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            log::note(format_args!("freeboard: {error}"));
            ExitCode::from(FAILURE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_described() {
        fn check(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                let place = format!("{} {}", command.get_name(), argument.get_id());
                assert!(argument.get_help().is_some(), "{place}");
            }
            command.get_subcommands().for_each(check);
        }
        check(&Arguments::command());
    }
}
