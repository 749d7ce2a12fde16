//! `freeboard audit`: finds what will break in a live database.

use crate::boolean::boolean;
use crate::out::Out;
use clap::ValueEnum;
use insight::Report;
use insight::audit::{Budget, Options, Reach, SAMPLE_DOCUMENTS, Target, Thresholds};
use insight::report::{self, Diff, Severity};
use std::error::Error;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// Found something as severe as --fail-on says.
const FOUND: u8 = 1;
/// As a shell reports a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Find what will break in a live database, with the evidence and the cure.
///
/// Works on MongoDB, Azure DocumentDB and Freeboard, and only reads: a sample of each
/// collection from a secondary where there is one, slowly where the server is busy.
/// Ctrl-C ends it with the report so far.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The server, as mongodb://host:port.
    #[arg(env = "FREEBOARD_URI", value_name = "URI", hide_env_values = true, required = true)]
    uri: Option<String>,
    /// Look at this database only.
    #[arg(long, env = "FREEBOARD_DB", value_name = "NAME")]
    db: Option<String>,
    /// Whose limits hold; the server is asked where this is not given.
    #[arg(long, env = "FREEBOARD_TARGET", value_enum)]
    target: Option<TargetName>,
    /// How many documents of each collection to look at.
    #[arg(long, env = "FREEBOARD_SAMPLE", value_name = "N", default_value_t = SAMPLE_DOCUMENTS, value_parser = clap::value_parser!(u64).range(1..))]
    sample: u64,
    /// Look at every document.
    #[arg(long, env = "FREEBOARD_FULL", value_parser = boolean(), conflicts_with = "sample")]
    full: bool,
    /// Time and load that may be used, such as 60s, 25% or 5m,50%.
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
    /// Exit with 1 if something at least so severe is found.
    #[arg(long, env = "FREEBOARD_FAIL_ON", value_enum, value_name = "LEVEL")]
    fail_on: Option<Level>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Compare two reports in JSON: what grew, what got better, and how fast.
    Diff {
        #[arg(value_name = "OLD.json")]
        old: PathBuf,
        #[arg(value_name = "NEW.json")]
        new: PathBuf,
        /// The form of the difference.
        #[arg(long, env = "FREEBOARD_FORMAT", value_enum, default_value_t = Format::Text)]
        format: Format,
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
    let options = Options {
        uri: arguments.uri.unwrap_or_default(),
        database: arguments.db,
        target: arguments.target.map(TargetName::target),
        reach: if arguments.full { Reach::Full } else { Reach::Sample(arguments.sample) },
        budget: arguments.budget.unwrap_or_default(),
        thresholds: thresholds.unwrap_or_default(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let stop = CancellationToken::new();
    runtime.spawn(stop_on_ctrl_c(stop.clone()));
    let report = runtime.block_on(insight::audit(&options, &stop))?;
    write(arguments.output.as_deref(), &report.render(format)?)?;
    let found = arguments.fail_on.is_some_and(|level| report.reaches(level.severity()));
    Ok(if found { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
}

fn diff(old: &Path, new: &Path, format: Format) -> Result<ExitCode, Box<dyn Error>> {
    let diff = Diff::new(&Report::read(old)?, &Report::read(new)?);
    let text = match format.form(true) {
        report::Format::Text { colour } => diff.text(colour),
        report::Format::Json => diff.json()?,
        report::Format::Html => return Err("a difference has no page; use text or json".into()),
    };
    write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// To a file, or to standard output.
fn write(output: Option<&Path>, text: &str) -> Result<(), Box<dyn Error>> {
    match output {
        Some(path) => std::fs::write(path, text).map_err(|error| {
            format!("the report cannot be written to {}: {error}", path.display()).into()
        }),
        None => {
            let mut out = Out::default();
            out.text(text);
            out.end()
        }
    }
}

/// The first Ctrl-C asks for the report so far, the second wants no more.
async fn stop_on_ctrl_c(stop: CancellationToken) {
    if tokio::signal::ctrl_c().await.is_ok() {
        stop.cancel();
    }
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(INTERRUPTED);
    }
}

impl Format {
    /// `shown`: on standard output, which may be a terminal.
    fn form(self, shown: bool) -> report::Format {
        match self {
            Format::Text => {
                let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                report::Format::Text { colour: shown && !plain && std::io::stdout().is_terminal() }
            }
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
