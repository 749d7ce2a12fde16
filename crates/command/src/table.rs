//! The command table: one row a command, alphabetical.
//!
//! Dispatch, `listCommands`, `help` and the documentation derive from it. Names
//! are case-sensitive; what MongoDB also spells in lower case is an alias.

use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// One sentence, for people.
    pub help: &'static str,
    pub kind: Kind,
    /// Refused on every database but `admin`.
    pub admin_only: bool,
    /// The first field names a collection.
    pub collection: bool,
    /// Takes a read concern other than `local`.
    pub read_concern: bool,
    pub write_concern: bool,
    /// May run in a multi-document transaction.
    pub in_transaction: bool,
    /// A write that a client may send again under the same number.
    pub retryable: bool,
    /// May run before the client has authenticated.
    pub before_auth: bool,
    /// Is in version 1 of the stable API.
    pub stable: bool,
    /// Is there only where the server takes test commands.
    pub for_tests: bool,
}

/// What a command does to data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    /// Creates, alters or removes collections, indexes or databases.
    Schema,
    /// Looks at the server or steers it.
    Server,
    /// Sessions, transactions and the handshake.
    Session,
}

impl Command {
    const fn new(name: &'static str, kind: Kind, help: &'static str) -> Command {
        Command {
            name,
            aliases: &[],
            help,
            kind,
            admin_only: false,
            collection: false,
            read_concern: false,
            write_concern: false,
            in_transaction: false,
            retryable: false,
            before_auth: false,
            stable: false,
            for_tests: false,
        }
    }

    const fn alias(mut self, aliases: &'static [&'static str]) -> Command {
        self.aliases = aliases;
        self
    }

    const fn admin(mut self) -> Command {
        self.admin_only = true;
        self
    }

    const fn collection(mut self) -> Command {
        self.collection = true;
        self
    }

    const fn read_concern(mut self) -> Command {
        self.read_concern = true;
        self
    }

    const fn write_concern(mut self) -> Command {
        self.write_concern = true;
        self
    }

    const fn transaction(mut self) -> Command {
        self.in_transaction = true;
        self
    }

    const fn retryable(mut self) -> Command {
        self.retryable = true;
        self
    }

    const fn open(mut self) -> Command {
        self.before_auth = true;
        self
    }

    const fn for_tests(mut self) -> Command {
        self.for_tests = true;
        self
    }

    const fn stable(mut self) -> Command {
        self.stable = true;
        self
    }
}

use Kind::{Read, Schema, Server, Session, Write};

#[rustfmt::skip]
pub const COMMANDS: &[Command] = &[
    Command::new("abortTransaction", Session, "Undoes a transaction.").admin().write_concern().transaction().stable(),
    Command::new("aggregate", Read, "Runs a pipeline over a collection, a view or a database.").collection().read_concern().write_concern().transaction().stable(),
    Command::new("buildInfo", Server, "Returns the server's version and how it was built.").alias(&["buildinfo"]).open(),
    Command::new("bulkWrite", Write, "Inserts, updates and deletes in several collections at once.").admin().write_concern().transaction().retryable().stable(),
    Command::new("cloneCollectionAsCapped", Schema, "Copies a collection into a new one, which is capped.").collection().write_concern(),
    Command::new("collMod", Schema, "Changes a collection's options, a view, or an index's options.").collection().write_concern().stable(),
    Command::new("collStats", Read, "Returns a collection's size, document count and indexes.").alias(&["collstats"]).collection().read_concern(),
    Command::new("commitTransaction", Session, "Makes a transaction's writes visible and durable.").admin().write_concern().transaction().stable(),
    Command::new("configureFailPoint", Server, "Has commands fail, with `--test-commands`.").admin().for_tests(),
    Command::new("connectionStatus", Server, "Shows who the connection has authenticated as.").open(),
    Command::new("convertToCapped", Schema, "Makes a collection capped.").collection().write_concern(),
    Command::new("count", Read, "Counts the documents that match a query.").collection().read_concern().stable(),
    Command::new("create", Schema, "Creates a collection or a view.").collection().write_concern().transaction().stable(),
    Command::new("createIndexes", Schema, "Builds indexes on a collection.").collection().write_concern().transaction().stable(),
    Command::new("currentOp", Server, "Lists the operations in progress.").admin(),
    Command::new("dataSize", Read, "Returns the size of a range of a collection.").alias(&["datasize"]),
    Command::new("dbStats", Read, "Returns a database's size and what it holds.").alias(&["dbstats"]).read_concern(),
    Command::new("delete", Write, "Deletes documents.").collection().write_concern().transaction().retryable().stable(),
    Command::new("distinct", Read, "Lists the distinct values of a field.").collection().read_concern().transaction(),
    Command::new("drop", Schema, "Removes a collection or a view.").collection().write_concern().stable(),
    Command::new("dropDatabase", Schema, "Removes a database.").write_concern().stable(),
    Command::new("dropGrowthPolicy", Schema, "Removes the growth policy of a collection; with restore, elements go back from the pages first.").collection().write_concern(),
    Command::new("dropIndexes", Schema, "Removes indexes of a collection.").alias(&["deleteIndexes"]).collection().write_concern().stable(),
    Command::new("endSessions", Session, "Ends sessions of the client.").open().stable(),
    Command::new("explain", Read, "Shows how a command would run, or ran.").read_concern().stable(),
    Command::new("features", Server, "Lists optional features of the server."),
    Command::new("find", Read, "Returns the documents that match a query.").collection().read_concern().transaction().stable(),
    Command::new("findAndModify", Write, "Changes or removes one document and returns it.").alias(&["findandmodify"]).collection().write_concern().transaction().retryable().stable(),
    Command::new("freeboardBackup", Server, "Copies the whole store into a directory of the server's machine.").admin(),
    Command::new("fsync", Server, "Syncs what has been written to the disk.").admin(),
    Command::new("getCmdLineOpts", Server, "Returns the options that the server was started with.").admin(),
    Command::new("getDefaultRWConcern", Server, "Returns the default read and write concern.").admin(),
    Command::new("getGrowthPolicy", Read, "Returns the growth policy of a collection.").collection(),
    Command::new("getLog", Server, "Returns the server's recent log lines.").admin(),
    Command::new("getMore", Read, "Returns the next documents of a cursor.").read_concern().transaction().stable(),
    Command::new("getParameter", Server, "Returns server parameters.").admin(),
    Command::new("growthStats", Read, "Shows how a collection's documents and arrays are spread, which are the largest and how they grow.").collection(),
    Command::new("hello", Session, "Describes the server to a client.").open().stable(),
    Command::new("hostInfo", Server, "Describes the machine the server runs on."),
    Command::new("insert", Write, "Inserts documents.").collection().write_concern().transaction().retryable().stable(),
    Command::new("isMaster", Session, "Describes the server to a client, by the old name.").alias(&["ismaster"]).open(),
    Command::new("isdbgrid", Server, "Says that clients may take the server for a mongos.").open(),
    Command::new("killAllSessions", Session, "Ends every session, or those of some users."),
    Command::new("killAllSessionsByPattern", Session, "Ends the sessions that match a pattern."),
    Command::new("killCursors", Read, "Closes cursors.").collection().transaction().stable(),
    Command::new("killOp", Server, "Stops an operation.").admin(),
    Command::new("killSessions", Session, "Ends sessions."),
    Command::new("listCollections", Read, "Lists the collections and views of a database.").read_concern().stable(),
    Command::new("listCommands", Server, "Lists the commands.").open(),
    Command::new("listDatabases", Read, "Lists the databases.").admin().stable(),
    Command::new("listGrowthPolicies", Read, "Lists the growth policies of a database."),
    Command::new("listIndexes", Read, "Lists the indexes of a collection.").collection().read_concern().stable(),
    Command::new("logout", Session, "Ends the connection's authentication.").open(),
    Command::new("migrateGrowth", Write, "Brings documents into the bounds of their growth policy, or with undo back out of them, a batch at a time.").collection().write_concern(),
    Command::new("ping", Server, "Answers, and does nothing else.").open().stable(),
    Command::new("planCacheClear", Server, "Forgets the plans of queries, of which none are kept.").collection(),
    Command::new("planCacheClearFilters", Server, "Forgets which indexes queries may use; there is no such rule.").collection(),
    Command::new("planCacheListFilters", Server, "Lists which indexes queries may use; there is no such rule.").collection(),
    Command::new("profile", Server, "Shows or sets how operations of a database are recorded."),
    Command::new("refreshSessions", Session, "Keeps sessions alive.").stable(),
    Command::new("renameCollection", Schema, "Gives a collection another name.").admin().write_concern(),
    Command::new("replSetGetConfig", Server, "Returns the configuration of the replica set, where the server is one.").admin(),
    Command::new("replSetGetStatus", Server, "Returns the state of the replica set, where the server is one.").admin(),
    Command::new("serverStatus", Server, "Returns the server's counters and state."),
    Command::new("setGrowthPolicy", Schema, "Sets the growth policy of a collection.").collection().write_concern(),
    Command::new("setParameter", Server, "Sets server parameters.").admin(),
    Command::new("startSession", Session, "Starts a session."),
    Command::new("top", Server, "Shows how much each collection is used.").admin(),
    Command::new("update", Write, "Updates documents.").collection().write_concern().transaction().retryable().stable(),
    Command::new("validate", Read, "Checks a collection and its indexes.").collection(),
    Command::new("verifyGrowth", Read, "Compares a collection with what its growth policy has kept of it, and mends it.").collection().write_concern(),
    Command::new("waitForFailPoint", Server, "Waits until commands have failed, with `--test-commands`.").admin().for_tests(),
    Command::new("whatsmyuri", Server, "Returns the address that the client connects from.").open(),
];

/// Every name and alias with its row, sorted.
static NAMES: LazyLock<Vec<(&'static str, &'static Command)>> = LazyLock::new(|| {
    let mut names = Vec::new();
    for command in COMMANDS {
        names.push((command.name, command));
        names.extend(command.aliases.iter().map(|alias| (*alias, command)));
    }
    names.sort_unstable_by_key(|(name, _)| *name);
    names
});

/// The row of a command, by its name or an alias.
pub fn command(name: &str) -> Option<&'static Command> {
    let row = NAMES.binary_search_by_key(&name, |(name, _)| name).ok()?;
    NAMES.get(row).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_alphabetical_and_names_unique() {
        assert!(COMMANDS.is_sorted_by(|a, b| a.name < b.name));
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn help_is_a_sentence() {
        for command in COMMANDS {
            assert!(command.help.ends_with('.'), "{}", command.name);
        }
    }

    #[test]
    fn names_are_case_sensitive_and_aliases_work() {
        assert_eq!(command("findandmodify"), command("findAndModify"));
        assert_eq!(command("ismaster").unwrap().name, "isMaster");
        assert_eq!(command("buildinfo").unwrap().name, "buildInfo");
        for name in ["Hello", "Find", "", "atlasVersion", "dbHash"] {
            assert_eq!(command(name), None, "{name}");
        }
    }
}
