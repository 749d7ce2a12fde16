//! `freeboard audit`: finds what will break in a live database.

use crate::boolean::boolean;
use crate::out::{self, Out};
use clap::ValueEnum;
use insight::Report;
use insight::audit::{Budget, Options, Reach, Target, Thresholds};
use insight::report::{self, Diff, Extent, Severity};
use rustix::fs::Access;
use std::error::Error;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// Found something as severe as --fail-on says.
const FOUND: u8 = 1;
/// What was asked for could not be looked at.
const NOT_LOOKED: u8 = 2;

/// Find what will break in a live database, with the evidence and the cure.
///
/// Works on MongoDB, Azure DocumentDB and Freeboard, and only reads: all documents where
/// the budget allows it, else a sample of each collection; from a secondary where there is
/// one, slowly where the server is busy. Ctrl-C ends it with the report so far.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI", required = true)]
    uri: Option<String>,
    /// Look at this database only.
    #[arg(long, env = "FREEBOARD_DB", value_name = "NAME")]
    db: Option<String>,
    /// Whose limits hold; the server is asked where this is not given.
    #[arg(long, env = "FREEBOARD_TARGET", value_enum)]
    target: Option<TargetName>,
    /// How many documents of each collection to look at; as many as the budget allows where
    /// this is not given.
    #[arg(long, env = "FREEBOARD_SAMPLE", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Look at every document, however long it takes and whatever --sample says.
    #[arg(long, env = "FREEBOARD_FULL", value_parser = boolean())]
    full: bool,
    /// Time, and the share of it in which the server works for the audit, such as 60s, 25% or
    /// 5m,50%, which is the default; there is no bound with --full.
    #[arg(long, env = "FREEBOARD_BUDGET", value_name = "BUDGET")]
    budget: Option<Budget>,
    /// A YAML file that changes thresholds (docs/audit.md).
    #[arg(long, env = "FREEBOARD_THRESHOLDS", value_name = "FILE")]
    thresholds: Option<PathBuf>,
    /// The form of the report.
    #[arg(long, env = "FREEBOARD_FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write the report to this file.
    #[arg(short, long, env = "FREEBOARD_OUTPUT", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the policies of all cures to this file, for freeboard apply.
    #[arg(long, env = "FREEBOARD_POLICY_OUT", value_name = "FILE")]
    policy_out: Option<PathBuf>,
    /// Exit with 1 if something at least so severe is found, with 2 if not all could be
    /// looked at. Where nothing could be, the exit code is 2 without it, too.
    #[arg(long, env = "FREEBOARD_FAIL_ON", value_enum, value_name = "LEVEL")]
    fail_on: Option<Level>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Compare two reports in JSON: what grew, what got better, and how fast.
    Diff {
        /// The earlier report.
        #[arg(value_name = "OLD.json")]
        old: PathBuf,
        /// The later one.
        #[arg(value_name = "NEW.json")]
        new: PathBuf,
        /// The form of the difference.
        #[arg(long, env = "FREEBOARD_DIFF_FORMAT", value_enum, default_value_t = DiffFormat::Text)]
        format: DiffFormat,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum TargetName {
    Mongodb,
    AzureDocumentdb,
    Freeboard,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Html,
}

/// A difference has no page.
#[derive(Clone, Copy, ValueEnum)]
enum DiffFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum Level {
    Info,
    Warn,
    Critical,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    match arguments.command {
        Some(Command::Diff { old, new, format }) => diff(&old, &new, format),
        None => audit(arguments),
    }
}

fn audit(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let format = arguments.format.form(arguments.output.is_none());
    let thresholds = arguments.thresholds.as_deref().map(Thresholds::read).transpose()?;
    // Rather now than when the audit is done.
    check_place("report", arguments.output.as_deref())?;
    check_place("policies", arguments.policy_out.as_deref())?;
    let options = Options {
        uri: arguments.uri.unwrap_or_default(),
        database: arguments.db,
        target: arguments.target.map(TargetName::target),
        reach: match (arguments.full, arguments.sample) {
            (true, _) => Reach::Full,
            (false, Some(documents)) => Reach::Sample(documents),
            (false, None) => Reach::Budgeted,
        },
        budget: arguments.budget.unwrap_or_default(),
        thresholds: thresholds.unwrap_or_default(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let stop = CancellationToken::new();
    runtime.spawn(stop_on_ctrl_c(stop.clone()));
    let report = runtime.block_on(insight::audit(&options, &stop))?;
    write(arguments.output.as_deref(), &report.render(format)?)?;
    if let Some(path) = &arguments.policy_out {
        write_policies(&report, path)?;
    }
    Ok(exit_code(&report, arguments.fail_on))
}

/// A file of policies is of one database: where there are several, each has its own, with the
/// name of the database before the ending.
fn write_policies(report: &Report, path: &Path) -> Result<(), Box<dyn Error>> {
    let files = report.policies();
    if files.is_empty() {
        out::note(format_args!(
            "freeboard: no cure is a policy, so that {} was not written; --target freeboard has \
             the cures of that target",
            path.display()
        ));
    }
    for file in &files {
        let path = match files.len() {
            1 => path.to_owned(),
            _ => {
                let ending = path.extension().and_then(|it| it.to_str()).unwrap_or("yaml");
                path.with_extension(format!("{}.{ending}", file.database))
            }
        };
        std::fs::write(&path, &file.text).map_err(|error| unwritten("policies", &path, &error))?;
        out::note(format_args!("the policies of {} are in {}", file.database, path.display()));
        for place in &file.left_out {
            out::note(format_args!("  {place} is not in it: it contradicts another policy"));
        }
    }
    Ok(())
}

/// Nothing that was looked at is a failure; with --fail-on a part is one, too.
fn exit_code(report: &Report, fail_on: Option<Level>) -> ExitCode {
    let extent = report.looked_at.extent;
    if extent == Extent::Nothing || (extent == Extent::Part && fail_on.is_some()) {
        out::note(format_args!("freeboard: {}", report.looked_at.sentence));
        return ExitCode::from(NOT_LOOKED);
    }
    match fail_on.is_some_and(|level| report.reaches(level.severity())) {
        true => ExitCode::from(FOUND),
        false => ExitCode::SUCCESS,
    }
}

fn diff(old: &Path, new: &Path, format: DiffFormat) -> Result<ExitCode, Box<dyn Error>> {
    let diff = Diff::new(&Report::read(old)?, &Report::read(new)?)?;
    let text = match format {
        DiffFormat::Text => diff.text(is_coloured(true)),
        DiffFormat::Json => diff.json()?,
    };
    write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// To a file, or to standard output.
fn write(output: Option<&Path>, text: &str) -> Result<(), Box<dyn Error>> {
    match output {
        Some(path) => {
            std::fs::write(path, text).map_err(|error| unwritten("report", path, &error).into())
        }
        None => {
            let mut out = Out::default();
            out.text(text);
            out.end()
        }
    }
}

/// Whether a file can be written where it is to be. It is not opened: it may be a pipe.
fn check_place(what: &str, path: Option<&Path>) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let place = if path.exists() { path } else { parent.unwrap_or(Path::new(".")) };
    let outcome = match path.is_dir() {
        true => Err(std::io::ErrorKind::IsADirectory.into()),
        false => rustix::fs::access(place, Access::WRITE_OK).map_err(std::io::Error::from),
    };
    outcome.map_err(|error| unwritten(what, path, &error))
}

fn unwritten(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("the {what} cannot be written to {}: {error}; name another file", path.display())
}

/// The first Ctrl-C asks for the report so far, the second wants no more.
async fn stop_on_ctrl_c(stop: CancellationToken) {
    jobs::interrupt("stopping; the report so far follows").await;
    stop.cancel();
}

/// Whether a text is coloured: on a terminal, unless the user wants none.
fn is_coloured(shown: bool) -> bool {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    shown && !plain && std::io::stdout().is_terminal()
}

impl Format {
    /// `shown`: on standard output, which may be a terminal.
    fn form(self, shown: bool) -> report::Format {
        match self {
            Format::Text => report::Format::Text { colour: is_coloured(shown) },
            Format::Json => report::Format::Json,
            Format::Html => report::Format::Html,
        }
    }
}

impl TargetName {
    fn target(self) -> Target {
        match self {
            TargetName::Mongodb => Target::MongoDb,
            TargetName::AzureDocumentdb => Target::AzureDocumentDb,
            TargetName::Freeboard => Target::Freeboard,
        }
    }
}

impl Level {
    fn severity(self) -> Severity {
        match self {
            Level::Info => Severity::Info,
            Level::Warn => Severity::Warn,
            Level::Critical => Severity::Critical,
        }
    }
}
