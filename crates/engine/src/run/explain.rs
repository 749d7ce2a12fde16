//! `explain`: how a command would run, or ran.

mod query_shape;
mod stages;

use super::context::context;
use super::reading::{self, resolve_for};
use super::{Call, aggregate, count, distinct, find, lookup};
use crate::catalog::Collection;
use crate::guarded::WithPolicies;
use crate::plan::Query;
use crate::plan::explain::{self, Above, Explained, ExplainedUpdate, HiddenLook, room};
use crate::writes::WriteQueries;
use aggregate::PreparedPipeline;
use bson::{RawBsonRef, RawDocument};
use command::fields::Hint as HintField;
use command::views::{
    Aggregate, Count, Delete, Distinct, Explain, Find, FindAndModify, Modification, Update,
    Verbosity,
};
use command::{Namespace, Reply, ReplyWriter, Request};
use error::{Code, Result};
use language::query::Filter;
use language::{Context, Needs};
use std::sync::Arc;
use value::DocumentWriter;
use value::element::get_value;
use write::{Selection, statement};

/// Limits that MongoDB shows with every plan, as this server has them.
const PARAMETERS: &[(&str, i32)] = &[
    ("internalQueryFacetBufferSizeBytes", 104_857_600),
    ("internalQueryFacetMaxOutputDocSizeBytes", 104_857_600),
    ("internalLookupStageIntermediateDocumentMaxSizeBytes", 104_857_600),
    ("internalDocumentSourceGroupMaxMemoryBytes", 104_857_600),
    ("internalQueryMaxBlockingSortMemoryUsageBytes", 104_857_600),
    ("internalQueryProhibitBlockingMergeOnMongoS", 0),
    ("internalQueryMaxAddToSetBytes", 104_857_600),
    ("internalDocumentSourceSetWindowFieldsMaxMemoryBytes", 104_857_600),
];

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let asked = Explain::parse(call.request)?;
    let explaining = Explaining {
        call: Call { request: &asked.request, ..call },
        verbosity: asked.verbosity,
        raw_data: get_value(asked.request.body(), "rawData") == Some(RawBsonRef::Boolean(true)),
    };
    let mut reply = ReplyWriter::new();
    explaining.command(asked.command.name, &asked.request, reply.writer())?;
    Ok(reply.finish())
}

/// `aggregate` with `explain: true`.
pub fn aggregate(call: Call<'_>, asked: &Aggregate<'_>) -> Result<Reply> {
    let explaining = Explaining { call, verbosity: Verbosity::QueryPlanner, raw_data: false };
    let mut reply = ReplyWriter::new();
    explaining.pipeline(aggregate::prepare(call, asked)?, reply.writer())?;
    Ok(reply.finish())
}

#[derive(Clone, Copy)]
struct Explaining<'a> {
    call: Call<'a>,
    verbosity: Verbosity,
    /// Whether the command inside is to see documents as they are stored.
    raw_data: bool,
}

impl Explaining<'_> {
    fn command(self, name: &str, request: &Request, out: &mut DocumentWriter) -> Result<()> {
        match name {
            "aggregate" => {
                let asked = Aggregate::parse_explained(request)?;
                self.pipeline(aggregate::prepare(self.call, &asked)?, out)
            }
            "count" => self.count(&Count::parse(request)?, out),
            "delete" => self.delete(&Delete::parse(request)?, out),
            "distinct" => self.distinct(&Distinct::parse(request)?, out),
            "find" => self.find(&Find::parse(request)?, out),
            "findAndModify" => self.find_and_modify(&FindAndModify::parse(request)?, out),
            "update" => self.update(&Update::parse(request)?, out),
            name => Err(Code::CommandNotSupported
                .error(format!("explain of {name} is not supported by this server"))),
        }
    }

    fn find(self, find: &Find<'_>, out: &mut DocumentWriter) -> Result<()> {
        let catalog = self.call.catalog()?;
        let resolved = resolve_for(self.call, &catalog, &find.namespace)?;
        let resolved = if self.raw_data { resolved.raw() } else { resolved };
        if resolved.is_view {
            return self.pipeline(aggregate::prepare_find(find, catalog, resolved)?, out);
        }
        let query = find::query(find, &resolved, &catalog)?;
        self.plan(&find.namespace, resolved.collection.as_ref(), query, None, out)
    }

    fn count(self, count: &Count<'_>, out: &mut DocumentWriter) -> Result<()> {
        let catalog = self.call.catalog()?;
        let resolved = resolve_for(self.call, &catalog, &count.namespace)?;
        if resolved.is_view {
            return self.pipeline(aggregate::prepare_count(count, catalog, resolved)?, out);
        }
        let query = count::query(count, &resolved, &catalog)?;
        self.plan(&count.namespace, resolved.collection.as_ref(), query, None, out)
    }

    fn distinct(self, distinct: &Distinct<'_>, out: &mut DocumentWriter) -> Result<()> {
        let catalog = self.call.catalog()?;
        let resolved = resolve_for(self.call, &catalog, &distinct.namespace)?;
        if resolved.is_view {
            return self.pipeline(aggregate::prepare_distinct(distinct, catalog, resolved)?, out);
        }
        let query = distinct::query(distinct, &resolved, &catalog)?;
        self.plan(&distinct.namespace, resolved.collection.as_ref(), query, None, out)
    }

    fn update(self, update: &Update<'_>, out: &mut DocumentWriter) -> Result<()> {
        let [statement] = &update.statements[..] else { return Err(one_statement()) };
        let selection = Selected {
            namespace: &update.namespace,
            query: statement.query,
            sort: statement.sort,
            hint: statement.hint,
            collation: statement.collation,
            variables: update.variables,
            multi: statement.multi,
            returns: false,
        };
        statement.check()?;
        let written = Written {
            modification: &statement.modification,
            array_filters: statement.array_filters.as_deref(),
            constants: statement.constants,
            upsert: statement.upsert,
        };
        self.write(selection, Some(written), out)
    }

    fn delete(self, delete: &Delete<'_>, out: &mut DocumentWriter) -> Result<()> {
        let [statement] = &delete.statements[..] else { return Err(one_statement()) };
        let selection = Selected {
            namespace: &delete.namespace,
            query: statement.query,
            sort: None,
            hint: statement.hint,
            collation: statement.collation,
            variables: delete.variables,
            multi: statement.multi,
            returns: false,
        };
        self.write(selection, None, out)
    }

    fn find_and_modify(self, modify: &FindAndModify<'_>, out: &mut DocumentWriter) -> Result<()> {
        let selection = Selected {
            namespace: &modify.namespace,
            query: modify.query,
            sort: modify.sort,
            hint: modify.hint,
            collation: modify.collation,
            variables: modify.variables,
            multi: false,
            returns: true,
        };
        let written = modify.update.as_ref().map(|modification| Written {
            modification,
            array_filters: modify.array_filters.as_deref(),
            constants: None,
            upsert: modify.upsert,
        });
        self.write(selection, written, out)
    }

    /// What a write selects, and what it would do to it.
    fn write(
        self,
        selected: Selected<'_>,
        written: Option<Written<'_>>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        let collection = self.call.engine.registry.get(selected.namespace);
        if let Some(collection) = &collection {
            lookup::refuse_view(collection)?;
        }
        let context = context(collection.as_deref(), selected.collation, selected.variables)?;
        let filter = Arc::new(Filter::parse(selected.query, &context)?);
        let change = written.map(|written| written.parse(&context)).transpose()?;
        if selected.multi && change.as_ref().is_some_and(|change| change.update.is_replacement()) {
            return Err(statement::multi_replacement());
        }
        let namespace = selected.namespace;
        let selection = Selection {
            filter: &filter,
            sort: selected.sort,
            hint: selected.hint.map(HintField::value),
            multi: selected.multi,
        };
        // A write reads again what is found. Here what an update would do is found out on the
        // documents themselves, so that arrays that it looks at are completed.
        let looks_at = change.as_ref().map_or_else(Needs::none, |change| change.needs(&filter));
        let catalog = self.call.catalog()?;
        let query = Query::new(filter.clone());
        let WriteQueries { seen, hidden } =
            WriteQueries::new(query, namespace, &selection, &catalog, &looks_at)?;
        let roles = catalog.roles(namespace).cloned();
        let hidden = hidden.zip(roles).map(|(query, roles)| HiddenLook { query, roles });
        let above = Above { change, hidden, multi: selected.multi, returns: selected.returns };
        self.plan(namespace, collection.as_ref(), seen, Some(above), out)
    }

    /// A command that is one query.
    fn plan(
        self,
        namespace: &Namespace,
        collection: Option<&Arc<Collection>>,
        query: Query,
        above: Option<Above>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        self.query(namespace, collection, query, above, out)?;
        self.append_command(out);
        self.append_server(out);
        Ok(())
    }

    fn query(
        self,
        namespace: &Namespace,
        collection: Option<&Arc<Collection>>,
        query: Query,
        above: Option<Above>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        let explained =
            Explained { namespace, collection, query, above, verbosity: self.verbosity };
        let view = reading::view(self.call)?;
        turn::aside(|| explain::explain(explained, &view, &self.call.operation.interrupt, out))
    }

    fn append_command(self, out: &mut DocumentWriter) {
        if let Some(hash) = query_shape::hash(self.call.request) {
            out.append_str("queryShapeHash", &hash);
        }
        room::append_command(self.call.request.body(), out);
    }

    fn append_server(self, out: &mut DocumentWriter) {
        let identity = self.call.engine.identity();
        out.begin_document("serverInfo");
        out.append_str("host", &identity.host);
        out.append_i32("port", identity.port.into());
        out.append_str("version", identity.version);
        out.append_str("gitVersion", identity.git_version);
        out.end();
        out.begin_document("serverParameters");
        PARAMETERS.iter().for_each(|(name, value)| out.append_i32(name, *value));
        out.append_str("internalQueryFrameworkControl", "forceClassicEngine");
        out.append_i32("internalQueryPlannerIgnoreIndexWithCollationForRegex", 1);
        out.end();
    }

    fn pipeline(self, prepared: PreparedPipeline, out: &mut DocumentWriter) -> Result<()> {
        stages::explain(self, prepared, out)
    }
}

/// What a write looks for.
struct Selected<'a> {
    namespace: &'a Namespace,
    query: &'a RawDocument,
    sort: Option<&'a RawDocument>,
    hint: Option<command::fields::Hint<'a>>,
    collation: Option<&'a RawDocument>,
    variables: Option<&'a RawDocument>,
    multi: bool,
    /// Whether it answers with the document.
    returns: bool,
}

/// What an update does.
struct Written<'a> {
    modification: &'a Modification<'a>,
    array_filters: Option<&'a [&'a RawDocument]>,
    constants: Option<&'a RawDocument>,
    upsert: bool,
}

impl Written<'_> {
    fn parse(self, context: &Context) -> Result<ExplainedUpdate> {
        let update = statement::parse_update(
            self.modification,
            self.array_filters,
            self.constants,
            context,
        )?;
        Ok(ExplainedUpdate { update, upsert: self.upsert })
    }
}

fn one_statement() -> error::Error {
    Code::InvalidLength.error("explained write batches must be of size 1")
}
