//! `growthStats`: how the documents of a collection are spread, which are the
//! largest and how they grow, and how long its arrays are.

use super::{Call, lookup};
use crate::catalog::Collection;
use crate::growth::{self, ArrayFigures, GrowthFigures, SHOWN, Sample, Sampled, now_ms};
use crate::storage::{CollectionId, Record, RecordId, View, large};
use bson::spec::ElementType;
use bson::{DateTime, RawBsonRef};
use command::views::GrowthPolicy;
use command::{Reply, ReplyWriter};
use error::Result;
use guard::Policy;
use guard::patterns::overflow::Counters;
use guard::patterns::place;
use guard::policy::{ArrayRule, Bounds, OnLimit, OnTotal, Overflow};
use statistics::{Histogram, Largest, Trend, reached};
use value::DocumentWriter;
use value::element::get_value;
use write::Version;
use write::limits::DOCUMENT_BYTES_MAX;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let asked = GrowthPolicy::parse(call.request, "growthStats")?;
    let mut reply = ReplyWriter::new();
    reply.append("ns", &*asked.namespace.to_string());
    let Some(collection) = call.engine.registry.get(&asked.namespace) else {
        of_nothing(reply.writer());
        return Ok(reply.finish());
    };
    lookup::refuse_view(&collection)?;
    match call.engine.growth_figures(&collection, &call.operation.interrupt).await? {
        Some(figures) => {
            turn::aside(|| Stats::new(call, &collection, &figures).write(reply.writer()))?;
        }
        None => of_nothing(reply.writer()),
    }
    Ok(reply.finish())
}

/// A collection that is not there has none of anything.
fn of_nothing(out: &mut DocumentWriter) {
    number(out, "documents", 0);
    out.begin_document("sizes");
    spread(out, &Histogram::default(), &[], 0);
    out.end();
    out.begin_array("largest");
    out.end();
    out.begin_document("arrays");
    out.end();
}

struct Stats<'a> {
    call: Call<'a>,
    collection: CollectionId,
    figures: &'a GrowthFigures,
    policy: Option<guard::Lease>,
    /// Newer than the figures: what is gone since then is left out.
    view: View,
    now_ms: u64,
}

impl<'a> Stats<'a> {
    fn new(call: Call<'a>, collection: &Collection, figures: &'a GrowthFigures) -> Stats<'a> {
        Stats {
            call,
            collection: collection.id,
            figures,
            policy: call.engine.policies.get(&collection.namespace),
            view: call.engine.store.view(),
            now_ms: now_ms(),
        }
    }

    fn policy(&self) -> Option<&Policy> {
        growth::policy(self.policy.as_ref())
    }

    fn write(&self, out: &mut DocumentWriter) -> Result<()> {
        let counts = self.figures.counts;
        number(out, "documents", counts.documents);
        if let Some(sizes) = &self.figures.sizes {
            out.append("since", date(sizes.since_ms));
            out.begin_document("sizes");
            spread(out, &sizes.histogram, &known(&sizes.largest.ranked()), counts.bytes);
            out.end();
        }
        self.write_bounds(out);
        self.write_largest(out)?;
        out.begin_document("arrays");
        for arrays in &self.figures.arrays {
            self.write_arrays(arrays, out)?;
        }
        let more = self.write_sampled(out)?;
        out.end();
        if more {
            out.append_bool("moreArrays", true);
        }
        Ok(())
    }

    /// What documents may grow to.
    fn write_bounds(&self, out: &mut DocumentWriter) {
        out.begin_document("bounds");
        let document = self.policy().map(|policy| &policy.document);
        if let Some(warn) = document.and_then(|document| document.warn_bytes) {
            number(out, "warnBytes", warn as u64);
        }
        if let Some(max) = document.and_then(|document| document.max_bytes) {
            number(out, "maxBytes", max as u64);
        }
        if self.policy().is_some_and(Policy::merges) {
            number(out, "wholeWarnBytes", growth::WHOLE_WARN_BYTES);
        }
        number(out, "limitBytes", DOCUMENT_BYTES_MAX as u64);
        out.end();
    }

    fn write_largest(&self, out: &mut DocumentWriter) -> Result<()> {
        out.begin_array("largest");
        let largest = self.figures.sizes.as_ref().map(|sizes| &sizes.largest);
        for (id, bytes) in largest.map(Largest::ranked).unwrap_or_default().into_iter().take(SHOWN)
        {
            let Some(record) = self.record(id)? else { continue };
            let kept = largest.and_then(|largest| largest.get(id));
            out.begin_next_document();
            append_id(out, &record);
            number(out, "bytes", u64::from(bytes));
            self.write_forecast(bytes, kept.map(|kept| &kept.note.trend), out);
            out.end();
        }
        out.end();
        Ok(())
    }

    /// How fast a document grows, and when it gets where it can grow no more.
    fn write_forecast(&self, bytes: u32, trend: Option<&Trend>, out: &mut DocumentWriter) {
        let observed_min_ms = self.call.engine.growth.observed_min_ms();
        let per_day = trend.and_then(|it| it.per_day(self.now_ms, bytes, observed_min_ms));
        match per_day {
            Some(rate) => whole(out, "growthBytesPerDay", rate.round() as i64),
            None => out.append_null("growthBytesPerDay"),
        }
        let reached = |bound: usize| reached(self.now_ms, bytes, per_day, bound as u32);
        out.begin_document("forecast");
        if let Some(max) = self.policy().and_then(|policy| policy.document.max_bytes) {
            append_date(out, "bound", reached(max));
        }
        append_date(out, "limit16MB", reached(DOCUMENT_BYTES_MAX));
        out.end();
    }

    /// The arrays at a path that the policy names.
    fn write_arrays(&self, arrays: &ArrayFigures, out: &mut DocumentWriter) -> Result<()> {
        let mut rules = self.policy().into_iter().flat_map(|policy| &policy.arrays);
        let Some(rule) = rules.find(|rule| arrays.is_of(rule)) else { return Ok(()) };
        let ranked = arrays.longest.ranked();
        out.begin_document(arrays.path.as_str());
        out.append_bool("exact", rule.is_counted());
        number(out, "documents", arrays.documents);
        number(out, "elements", arrays.elements);
        let mut longest = known(&ranked);
        if arrays.histogram.count() > arrays.documents {
            // Where documents have several, only their longest are known.
            longest.truncate(1);
        }
        spread(out, &arrays.histogram, &longest, arrays.elements);
        write_rule(rule, arrays, out);
        out.begin_array("longest");
        for (id, length) in ranked.into_iter().take(SHOWN) {
            let Some(record) = self.record(id)? else { continue };
            out.begin_next_document();
            append_id(out, &record);
            number(out, "length", u64::from(length));
            if let OnLimit::Overflow(overflow) = &rule.on_limit {
                number(out, "head", self.head_length(&record, rule));
                let version = Version { document: record.stored(), sidecar: record.sidecar() };
                let counters = Counters::read(version, overflow);
                number(out, "pages", counters.pages as u64);
                if counters.pages > 0 && counters.bytes.is_some() {
                    number(out, "bytes", counters.mass().array_bytes() as u64);
                }
            }
            out.end();
        }
        out.end();
        out.end();
        Ok(())
    }

    /// How many elements of an array that overflows the document itself holds.
    fn head_length(&self, record: &Record, rule: &ArrayRule) -> u64 {
        let Some(field) = place::find(record.stored(), &rule.path) else { return 0 };
        match field.kind {
            ElementType::Array => u64::from(large::items(&field)),
            _ => {
                let hidden = large::hidden(&field, self.call.engine.store.secret());
                u64::from(hidden.and_then(|hidden| hidden.items).unwrap_or(0))
            }
        }
    }

    /// The arrays that no policy names. Says whether there are more of them.
    fn write_sampled(&self, out: &mut DocumentWriter) -> Result<bool> {
        let secret = self.call.engine.store.secret();
        let interrupt = &self.call.operation.interrupt;
        let Sample { documents, arrays, more } = Sample::take(
            &self.view,
            self.collection,
            self.figures,
            self.policy(),
            secret,
            interrupt,
        )?;
        for (path, Sampled { documents: having, elements, histogram, max, .. }) in arrays {
            out.begin_document(&path);
            out.append_bool("exact", false);
            number(out, "sampledDocuments", documents);
            number(out, "documents", having);
            number(out, "elements", elements);
            spread(out, &histogram, &[max], elements);
            out.end();
        }
        Ok(more)
    }

    fn record(&self, id: u64) -> Result<Option<Record>> {
        self.view.record(self.collection, RecordId(id))
    }
}

/// What the policy says of an array, and what has gone to pages.
fn write_rule(rule: &ArrayRule, arrays: &ArrayFigures, out: &mut DocumentWriter) {
    out.begin_document("bound");
    if let Some(max) = rule.bounds.max {
        number(out, "max", max as u64);
    }
    if let Some(max_bytes) = rule.bounds.max_bytes {
        number(out, "maxBytes", max_bytes as u64);
    }
    let on_limit = match &rule.on_limit {
        OnLimit::Reject => "reject",
        OnLimit::DropOldest => "drop_oldest",
        OnLimit::DropNewest => "drop_newest",
        OnLimit::Overflow(_) => "overflow",
    };
    out.append_str("onLimit", on_limit);
    if let OnLimit::Overflow(overflow) = &rule.on_limit {
        write_total(overflow, out);
    }
    out.end();
    if let OnLimit::Overflow(overflow) = &rule.on_limit {
        out.begin_document("overflow");
        out.append_str("into", &overflow.into.collection);
        number(out, "documents", arrays.overflowed);
        number(out, "pages", arrays.pages);
        out.end();
    }
}

/// What the policy says of an array as a whole.
fn write_total(rule: &Overflow, out: &mut DocumentWriter) {
    let Bounds { max, max_bytes } = rule.total;
    for (key, bound) in [("totalMax", max), ("totalBytes", max_bytes)] {
        if let Some(bound) = bound {
            number(out, key, bound as u64);
        }
    }
    if rule.total != Bounds::NONE {
        let on_total = match rule.on_total {
            OnTotal::Reject => "reject",
            OnTotal::DropOldest => "drop_oldest",
        };
        out.append_str("onTotal", on_total);
    }
}

/// The sizes of the largest.
fn known(ranked: &[(u64, u32)]) -> Vec<u32> {
    ranked.iter().map(|(_, size)| *size).collect()
}

/// How numbers are spread, of which the `largest` are known.
fn spread(out: &mut DocumentWriter, histogram: &Histogram, largest: &[u32], sum: u64) {
    out.begin_array("histogram");
    for range in histogram.ranges() {
        out.begin_next_document();
        number(out, "from", range.from);
        number(out, "to", range.to);
        number(out, "count", range.count);
        out.end();
    }
    out.end();
    out.append_f64("avg", sum as f64 / histogram.count().max(1) as f64);
    for (name, thousandths) in [("p50", 500), ("p90", 900), ("p99", 990)] {
        number(out, name, u64::from(histogram.quantile(thousandths, largest).unwrap_or(0)));
    }
    number(out, "max", u64::from(largest.first().copied().unwrap_or(0)));
}

fn append_id(out: &mut DocumentWriter, record: &Record) {
    let id = get_value(record.stored(), "_id").unwrap_or(RawBsonRef::Null);
    guard::verify::append_id(out, "_id", id);
}

fn append_date(out: &mut DocumentWriter, key: &str, at_ms: Option<u64>) {
    match at_ms {
        Some(at_ms) => out.append(key, date(at_ms)),
        None => out.append_null(key),
    }
}

fn date(at_ms: u64) -> RawBsonRef<'static> {
    RawBsonRef::DateTime(DateTime::from_millis(i64::try_from(at_ms).unwrap_or(i64::MAX)))
}

fn number(out: &mut DocumentWriter, key: &str, number: u64) {
    whole(out, key, i64::try_from(number).unwrap_or(i64::MAX));
}

/// An int where it fits, else a long.
fn whole(out: &mut DocumentWriter, key: &str, number: i64) {
    match i32::try_from(number) {
        Ok(number) => out.append_i32(key, number),
        Err(_) => out.append_i64(key, number),
    }
}
