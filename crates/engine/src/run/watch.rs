//! `aggregate` with `$changeStream`: opening a change stream.

use super::Call;
use super::context::context;
use super::reading::first_batch;
use crate::changes::{Stream, StreamOptions};
use crate::cursor::Source;
use bson::{RawBsonRef, RawDocument};
use command::Reply;
use command::common::ReadLevel;
use command::labels::stream_labelled;
use command::views::Aggregate;
use error::{Code, Result};
use language::aggregate::Pipeline;
use value::ArrayWriter;
use value::element::{elements, get};

const STAGE: &str = "$changeStream";

/// The stages that may follow: those that turn an event into one event or none.
const STAGES_BEHIND: &[&str] = &[
    "$addFields",
    "$match",
    "$project",
    "$redact",
    "$replaceRoot",
    "$replaceWith",
    "$set",
    "$unset",
];

/// Whether a pipeline is a change stream.
pub fn is_stream(pipeline: &[&RawDocument]) -> bool {
    pipeline.first().and_then(|stage| elements(stage).next()).is_some_and(|it| it.key == STAGE)
}

pub async fn open(call: Call<'_>, aggregate: &Aggregate<'_>) -> Result<Reply> {
    opened(call, aggregate).await.map_err(stream_labelled)
}

async fn opened(call: Call<'_>, aggregate: &Aggregate<'_>) -> Result<Reply> {
    let namespace = &aggregate.namespace;
    if call.engine.registry.get(namespace).is_some_and(|collection| collection.is_view()) {
        return Err(Code::OptionNotSupportedOnView
            .error(format!("{STAGE} is not supported on views; {namespace} is one")));
    }
    if call.statement().is_some() {
        return Err(Code::OperationNotSupportedInTransaction.error(format!(
            "Operation not permitted in transaction :: caused by :: Aggregation stage {STAGE} \
             cannot run within a multi-document transaction"
        )));
    }
    check_read_concern(call)?;
    let context = context(None, aggregate.collation, aggregate.variables)?;
    // The whole, for what is wrong in it, and then what follows the first stage.
    Pipeline::parse(&ArrayWriter::documents(&aggregate.pipeline), &context)?;
    aggregate.pipeline.iter().skip(1).try_for_each(|stage| check_stage(stage))?;
    let behind = Pipeline::parse(&ArrayWriter::documents(&aggregate.pipeline[1..]), &context)?;
    let argument = aggregate.pipeline.first().and_then(|stage| elements(stage).next());
    let Some(RawBsonRef::Document(argument)) = argument.map(|argument| argument.value()) else {
        return Err(
            Code::location(50808).error(format!("{STAGE} stage expects a document as argument"))
        );
    };
    let (scope, options) = StreamOptions::parse(argument, namespace)?;
    call.engine.begin_log().await?;
    // A stream begins with what has been synced, so that nothing that it has
    // seen the end of is ever written again after a crash.
    call.engine.log_synced().await;
    let stream = Stream::open(call.engine, scope, options, behind)?;
    let batch_size = aggregate.batch_size.map(i64::unsigned_abs);
    let cursor = call.cursor(namespace.clone(), Source::Changes(Box::new(stream)));
    first_batch(call, cursor, batch_size, false)
}

fn check_stage(stage: &RawDocument) -> Result<()> {
    match elements(stage).next() {
        Some(stage) if !STAGES_BEHIND.contains(&stage.key) => Err(Code::IllegalOperation
            .error(format!("{} is not permitted in a {STAGE} pipeline", stage.key))),
        _ => Ok(()),
    }
}

/// Streams show what has been synced; no other read concern means that.
fn check_read_concern(call: Call<'_>) -> Result<()> {
    let Some(concern) = call.common.read_concern else { return Ok(()) };
    // A session that is causally consistent may send a time and no level.
    let given = get(call.request.body(), "readConcern").and_then(|concern| concern.as_document());
    let given = given.is_some_and(|concern| get(concern, "level").is_some());
    if !given || concern.level == ReadLevel::Majority {
        return Ok(());
    }
    Err(Code::InvalidOptions.error(format!(
        "Aggregation stage {STAGE} cannot run with a readConcern other than 'majority'. Current \
         readConcern: {}",
        concern.level.name()
    )))
}
