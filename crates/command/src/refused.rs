//! Commands that MongoDB has and that are refused, each with its reason.

use crate::table::COMMANDS;
use error::{Code, Error};

const NO_CLUSTER: &str = "there is no cluster";
const NO_REPLICA_SET: &str = "there is no other member of a replica set";
const NO_SEARCH: &str = "it requires Atlas Search, which is not here";
const NO_SHARDS: &str = "there are no shards";
const NO_USERS: &str = "users and roles are not kept";

/// Name and reason, alphabetical.
pub const REFUSED: &[(&str, &str)] = &[
    ("abortReshardCollection", NO_SHARDS),
    ("addShard", NO_SHARDS),
    ("addShardToZone", NO_SHARDS),
    ("analyze", "the planner keeps no statistics"),
    ("analyzeShardKey", NO_SHARDS),
    ("appendOplogNote", "there is no oplog"),
    ("applyOps", "there is no oplog"),
    ("authenticate", NO_USERS),
    ("autoCompact", "space is given back in the background"),
    ("availableQueryOptions", "it is of old clients"),
    ("balancerCollectionStatus", NO_SHARDS),
    ("balancerStart", NO_SHARDS),
    ("balancerStatus", NO_SHARDS),
    ("balancerStop", NO_SHARDS),
    ("changePrimary", NO_SHARDS),
    ("checkMetadataConsistency", NO_SHARDS),
    ("checkShardingIndex", NO_SHARDS),
    ("cleanupOrphaned", NO_SHARDS),
    ("cleanupReshardCollection", NO_SHARDS),
    ("cleanupStructuredEncryptionData", "queryable encryption is not supported"),
    ("clearJumboFlag", NO_SHARDS),
    ("clone", "databases are copied with export and import"),
    ("cloneCollection", "collections are copied with export and import"),
    ("commitReshardCollection", NO_SHARDS),
    ("commitShardRemoval", NO_SHARDS),
    ("compact", "space is given back in the background"),
    ("compactStructuredEncryptionData", "queryable encryption is not supported"),
    ("configureCollectionBalancing", NO_SHARDS),
    ("configureQueryAnalyzer", NO_SHARDS),
    ("connPoolStats", "there are no connections to other servers"),
    ("copydb", "databases are copied with export and import"),
    ("createRole", NO_USERS),
    ("createSearchIndexes", NO_SEARCH),
    ("createUnsplittableCollection", NO_SHARDS),
    ("createUser", NO_USERS),
    ("dbCheck", "there is no replica set to compare with"),
    ("dbHash", "there is no replica set to compare with"),
    ("diagLogging", "it is of old clients"),
    ("driverOIDTest", "it is of old clients"),
    ("dropAllRolesFromDatabase", NO_USERS),
    ("dropAllUsersFromDatabase", NO_USERS),
    ("dropConnections", "there are no connections to other servers"),
    ("dropRole", NO_USERS),
    ("dropSearchIndex", NO_SEARCH),
    ("dropUser", NO_USERS),
    ("enableSharding", NO_SHARDS),
    ("eval", "there is no server-side JavaScript; use aggregate"),
    ("filemd5", "the server computes no checksums of files; compare what they hold"),
    ("flushRouterConfig", NO_SHARDS),
    ("fsyncUnlock", "the server is never locked"),
    ("geoNear", "there are no geospatial indexes"),
    ("geoSearch", "there are no geospatial indexes"),
    ("getAuditConfig", "there is no audit log"),
    ("getClusterParameter", NO_CLUSTER),
    ("getDatabaseVersion", NO_SHARDS),
    ("getDiagnosticData", "no diagnostic data is kept; use serverStatus"),
    ("getFreeMonitoringStatus", "there is no free monitoring"),
    ("getLastError", "it is of old clients; a write says itself what became of it"),
    ("getPrevError", "it is of old clients; a write says itself what became of it"),
    ("getQueryableEncryptionCountInfo", "queryable encryption is not supported"),
    ("getShardMap", NO_SHARDS),
    ("getShardVersion", NO_SHARDS),
    ("getnonce", NO_USERS),
    ("grantPrivilegesToRole", NO_USERS),
    ("grantRolesToRole", NO_USERS),
    ("grantRolesToUser", NO_USERS),
    ("group", "it is of old clients; use aggregate"),
    ("invalidateUserCache", NO_USERS),
    ("listDatabasesForAllTenants", "there is one tenant"),
    ("listSearchIndexes", NO_SEARCH),
    ("listShards", NO_SHARDS),
    ("lockInfo", "there are no locks to show"),
    ("logApplicationMessage", "there is no audit log"),
    ("logRotate", "the server writes its log to standard error"),
    ("mapReduce", "there is no server-side JavaScript; use aggregate"),
    ("mergeAllChunksOnShard", NO_SHARDS),
    ("mergeChunks", NO_SHARDS),
    ("moveChunk", NO_SHARDS),
    ("moveCollection", NO_SHARDS),
    ("movePrimary", NO_SHARDS),
    ("moveRange", NO_SHARDS),
    ("netstat", NO_SHARDS),
    ("parallelCollectionScan", "it is of old clients; use find"),
    ("planCacheSetFilter", "there is no plan cache"),
    ("reIndex", "an index is rebuilt by dropping and creating it"),
    ("reapLogicalSessionCacheNow", "sessions are kept in memory"),
    ("refineCollectionShardKey", NO_SHARDS),
    ("refreshLogicalSessionCacheNow", "sessions are kept in memory"),
    ("releaseMemory", "memory is given back by itself"),
    ("removeQuerySettings", "queries have no settings of their own; use hint"),
    ("removeShard", NO_SHARDS),
    ("removeShardFromZone", NO_SHARDS),
    ("repairDatabase", "the store is checked when it is opened"),
    ("replSetAbortPrimaryCatchUp", NO_REPLICA_SET),
    ("replSetFreeze", NO_REPLICA_SET),
    ("replSetGetRBID", NO_REPLICA_SET),
    ("replSetHeartbeat", NO_REPLICA_SET),
    ("replSetInitiate", NO_REPLICA_SET),
    ("replSetMaintenance", NO_REPLICA_SET),
    ("replSetReconfig", NO_REPLICA_SET),
    ("replSetResizeOplog", NO_REPLICA_SET),
    ("replSetStepDown", NO_REPLICA_SET),
    ("replSetSyncFrom", NO_REPLICA_SET),
    ("resetError", "it is of old clients; a write says itself what became of it"),
    ("resetPlacementHistory", NO_SHARDS),
    ("reshardCollection", NO_SHARDS),
    ("revokePrivilegesFromRole", NO_USERS),
    ("revokeRolesFromRole", NO_USERS),
    ("revokeRolesFromUser", NO_USERS),
    ("rolesInfo", NO_USERS),
    ("rotateCertificates", "the server does not use TLS"),
    ("saslContinue", NO_USERS),
    ("saslStart", NO_USERS),
    ("setAllowMigrations", NO_SHARDS),
    ("setAuditConfig", "there is no audit log"),
    ("setClusterParameter", NO_CLUSTER),
    ("setDefaultRWConcern", NO_REPLICA_SET),
    ("setFeatureCompatibilityVersion", "there is one version of the data"),
    ("setFreeMonitoring", "there is no free monitoring"),
    ("setIndexCommitQuorum", NO_REPLICA_SET),
    ("setQuerySettings", "queries have no settings of their own; use hint"),
    ("setShardVersion", NO_SHARDS),
    ("setUserWriteBlockMode", "writes cannot be blocked"),
    ("shardCollection", NO_SHARDS),
    ("shardConnPoolStats", NO_SHARDS),
    ("shardDrainingStatus", NO_SHARDS),
    ("shardingState", NO_SHARDS),
    ("shutdown", "the process is stopped with SIGTERM"),
    ("split", NO_SHARDS),
    ("splitVector", NO_SHARDS),
    ("startRecordingTraffic", "traffic is not recorded"),
    ("startShardDraining", NO_SHARDS),
    ("stopRecordingTraffic", "traffic is not recorded"),
    ("stopShardDraining", NO_SHARDS),
    ("touch", "it is of old clients; what is read stays in the cache"),
    ("transitionFromDedicatedConfigServer", NO_SHARDS),
    ("transitionToDedicatedConfigServer", NO_SHARDS),
    ("unshardCollection", NO_SHARDS),
    ("untrackUnshardedCollection", NO_SHARDS),
    ("updateRole", NO_USERS),
    ("updateSearchIndex", NO_SEARCH),
    ("updateUser", NO_USERS),
    ("updateZoneKeyRange", NO_SHARDS),
    ("usersInfo", NO_USERS),
    ("validateDBMetadata", "definitions are checked against no API version"),
];

/// The answer to a command that is not in the table.
pub fn not_found(name: &str) -> Error {
    // Some have names in lower case, too, and the reason is the same.
    match REFUSED.iter().find(|(refused, _)| refused.eq_ignore_ascii_case(name)) {
        // Clients know this code of a MongoDB that has no search beside it.
        Some((_, NO_SEARCH)) => {
            Code::SearchNotEnabled.error(format!("{name} is not supported, as {NO_SEARCH}"))
        }
        Some((_, why)) => Code::CommandNotFound
            .error(format!("no such command: '{name}' is not supported, as {why}")),
        None => Code::CommandNotFound.error(match spelled(name) {
            Some(known) => format!("no such command: '{name}'; its name is '{known}'"),
            None => format!("no such command: '{name}'"),
        }),
    }
}

/// The command that has the name in other letters: names are case-sensitive. One of just this
/// name is there only for servers that are started otherwise.
fn spelled(name: &str) -> Option<&'static str> {
    let mut names = COMMANDS.iter().flat_map(|it| [&[it.name], it.aliases].concat());
    names.find(|known| known.eq_ignore_ascii_case(name)).filter(|known| *known != name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_other_letters_has_the_reason_too() {
        for name in ["mapreduce", "listshards", "filemd5", "shardcollection", "getlasterror"] {
            assert!(not_found(name).message().contains(" is not supported, as "), "{name}");
        }
        assert_eq!(not_found("Find").message(), "no such command: 'Find'; its name is 'find'");
    }

    #[test]
    fn rows_are_alphabetical_and_in_no_other_table() {
        assert!(REFUSED.is_sorted_by(|a, b| a.0 < b.0));
        for (name, _) in REFUSED {
            assert!(crate::command(name).is_none(), "{name}");
        }
    }

    #[test]
    fn search_has_a_code_of_its_own() {
        for (name, code) in [
            ("createSearchIndexes", Code::SearchNotEnabled),
            ("compact", Code::CommandNotFound),
            ("nonsense", Code::CommandNotFound),
        ] {
            assert_eq!(not_found(name).code(), code, "{name}");
        }
    }
}
