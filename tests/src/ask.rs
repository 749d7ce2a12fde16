//! The verbs of scripts that ask about one operator: a filter on a collection, a projection or an
//! update of one document, an upsert. Each makes its commands itself and prints no more than what
//! the operator did.

use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr, rawbson, rawdoc};
use goldenscript::Context;

use crate::script::Script;
use crate::{Result, print};

/// Where one document is projected or changed.
const SCRATCH: &str = "scratch";

pub struct Ask<'s> {
    script: &'s mut Script,
    connection: String,
    values: std::vec::IntoIter<RawBson>,
}

/// What the server said: something to go on with, or an error as it is printed.
enum Answer {
    Reply(RawDocumentBuf),
    Error(String),
}

impl<'s> Ask<'s> {
    pub fn new(script: &'s mut Script, text: &str, context: &Context) -> Result<Ask<'s>> {
        let values = script.values(text)?.into_iter();
        Ok(Ask { script, connection: context.prefix.clone().unwrap_or_default(), values })
    }

    /// The `_id`s that a filter finds, which are the same however they are found.
    pub fn matches(mut self, collection: &str) -> Result<String> {
        let mut find = rawdoc! { "find": collection, "filter": self.next()? };
        let sorted = self.options(&mut find)?;
        let planned = self.ids(find.clone(), sorted)?;
        find.append(cstr!("hint"), rawdoc! { "$natural": 1 });
        let scanned = self.ids(find, sorted)?;
        if planned == scanned {
            return Ok(planned);
        }
        Ok(format!("planned: {planned}\nscanned: {scanned}"))
    }

    pub fn project(mut self) -> Result<String> {
        let without_id = self.put()?;
        let mut find = rawdoc! { "find": SCRATCH, "projection": self.next()? };
        self.options(&mut find)?;
        Ok(match self.ask(find)? {
            Answer::Reply(reply) => match batch(&reply)?.first() {
                Some(document) => shown(document, without_id)?,
                None => "no match".to_owned(),
            },
            Answer::Error(error) => error,
        })
    }

    pub fn change(mut self) -> Result<String> {
        let without_id = self.put()?;
        let mut statement = rawdoc! { "u": self.next()? };
        self.options(&mut statement)?;
        if statement.get("q")?.is_none() {
            statement.append(cstr!("q"), rawdoc! {});
        }
        let modified = match self.write(statement)? {
            Answer::Reply(reply) => match (reply.get("n")?, reply.get("nModified")?) {
                (Some(RawBsonRef::Int32(0)), _) => return Ok("no match".to_owned()),
                (_, modified) => modified != Some(RawBsonRef::Int32(0)),
            },
            Answer::Error(error) => return Ok(error),
        };
        let after = self.found(without_id)?;
        Ok(if modified { after } else { format!("{after} unchanged") })
    }

    pub fn upsert(mut self) -> Result<String> {
        self.empty()?;
        let mut statement = rawdoc! { "q": self.next()?, "u": self.next()?, "upsert": true };
        self.options(&mut statement)?;
        match self.write(statement)? {
            Answer::Reply(reply) => {
                let Some(RawBsonRef::Array(upserted)) = reply.get("upserted")? else {
                    return Ok("nothing inserted".to_owned());
                };
                let made = match upserted.get(0)? {
                    Some(RawBsonRef::Document(entry)) => entry.get("_id")?,
                    _ => None,
                };
                self.found(matches!(made, Some(RawBsonRef::ObjectId(_))))
            }
            Answer::Error(error) => Ok(error),
        }
    }

    fn next(&mut self) -> Result<RawBson> {
        self.values.next().ok_or_else(|| "another document is needed".into())
    }

    /// Appends the fields of the last document, if there is one. Says whether they order results.
    fn options(&mut self, command: &mut RawDocumentBuf) -> Result<bool> {
        let Some(options) = self.values.next() else { return Ok(false) };
        let RawBson::Document(options) = options else {
            return Err("options are a document".into());
        };
        for option in &options {
            let (name, value) = option?;
            command.append(name, value);
        }
        Ok(options.get("sort")?.is_some())
    }

    fn empty(&mut self) -> Result<()> {
        let all = rawdoc! { "q": {}, "limit": 0 };
        self.ask(rawdoc! { "delete": SCRATCH, "deletes": [all] }).map(|_| ())
    }

    /// Makes the next value the only document there. Says whether its `_id` was made up.
    fn put(&mut self) -> Result<bool> {
        self.empty()?;
        let RawBson::Document(given) = self.next()? else {
            return Err("a document is needed".into());
        };
        let without_id = given.get("_id")?.is_none();
        let mut document = if without_id {
            rawdoc! { "_id": 1 }
        } else {
            rawdoc! {}
        };
        for field in &given {
            let (name, value) = field?;
            document.append(name, value);
        }
        match self.ask(rawdoc! { "insert": SCRATCH, "documents": [document] })? {
            Answer::Reply(_) => Ok(without_id),
            Answer::Error(error) => Err(format!("insert: {error}").into()),
        }
    }

    fn write(&mut self, statement: RawDocumentBuf) -> Result<Answer> {
        let mut command = rawdoc! { "update": SCRATCH };
        let mut updates = RawArrayBuf::new();
        updates.push(statement);
        command.append(cstr!("updates"), updates);
        self.ask(command)
    }

    /// The only document there is.
    fn found(&mut self, without_id: bool) -> Result<String> {
        match self.ask(rawdoc! { "find": SCRATCH })? {
            Answer::Reply(reply) => match batch(&reply)?.first() {
                Some(document) => shown(document, without_id),
                None => Ok("nothing".to_owned()),
            },
            Answer::Error(error) => Ok(error),
        }
    }

    /// The `_id`s found, in the order found if that is asked for, else in their own.
    fn ids(&mut self, find: RawDocumentBuf, sorted: bool) -> Result<String> {
        let reply = match self.ask(find)? {
            Answer::Reply(reply) => reply,
            Answer::Error(error) => return Ok(error),
        };
        let mut ids = Vec::new();
        for document in batch(&reply)? {
            ids.push(document.get("_id")?.map_or(rawbson!(null), RawBson::from));
        }
        if !sorted {
            ids.sort_by_key(|id| id.as_i32());
        }
        let texts: Result<Vec<String>> =
            ids.iter().map(|id| print::value(id.as_raw_bson_ref())).collect();
        let texts = texts?;
        Ok(if texts.is_empty() { "none".to_owned() } else { texts.join(" ") })
    }

    fn ask(&mut self, command: RawDocumentBuf) -> Result<Answer> {
        let reply = self.script.ask(command, &self.connection)?;
        if let Some(RawBsonRef::Array(errors)) = reply.get("writeErrors")?
            && let Some(RawBsonRef::Document(error)) = errors.get(0)?
        {
            return Ok(Answer::Error(print::write_error(error)?));
        }
        match reply.get("ok")? {
            Some(RawBsonRef::Double(1.0)) => Ok(Answer::Reply(reply)),
            _ => Ok(Answer::Error(print::reply(&reply, &[])?)),
        }
    }
}

fn batch(reply: &RawDocument) -> Result<Vec<&RawDocument>> {
    let Some(RawBsonRef::Document(cursor)) = reply.get("cursor")? else {
        return Err("no cursor".into());
    };
    let Some(RawBsonRef::Array(documents)) = cursor.get("firstBatch")? else {
        return Err("no batch".into());
    };
    let mut batch = Vec::new();
    for document in documents {
        match document? {
            RawBsonRef::Document(document) => batch.push(document),
            _ => return Err("not a document".into()),
        }
    }
    Ok(batch)
}

fn shown(document: &RawDocument, without_id: bool) -> Result<String> {
    let mut kept = RawDocumentBuf::new();
    for field in document {
        let (name, value) = field?;
        if !(without_id && name.as_str() == "_id") {
            kept.append(name, value);
        }
    }
    print::value(RawBsonRef::Document(&kept))
}
