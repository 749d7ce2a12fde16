//! MongoDB's error codes, one row a code.

use std::borrow::Cow;

/// A code as clients compare it. Codes without a name of their own are called
/// `Location<number>`, as MongoDB does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code(i32);

macro_rules! codes {
    ($($number:literal $name:ident)*) => {
        #[allow(non_upper_case_globals, reason = "spelled as clients see them")]
        impl Code {
            $(pub const $name: Code = Code($number);)*
        }

        const NAMES: &[(i32, &str)] = &[$(($number, stringify!($name)),)*];
    };
}

codes! {
    1 InternalError
    2 BadValue
    4 NoSuchKey
    5 GraphContainsCycle
    6 HostUnreachable
    7 HostNotFound
    8 UnknownError
    9 FailedToParse
    11 UserNotFound
    12 UnsupportedFormat
    13 Unauthorized
    14 TypeMismatch
    15 Overflow
    16 InvalidLength
    17 ProtocolError
    18 AuthenticationFailed
    20 IllegalOperation
    22 InvalidBSON
    24 LockTimeout
    26 NamespaceNotFound
    27 IndexNotFound
    28 PathNotViable
    34 CannotBackfillArray
    40 ConflictingUpdateOperators
    43 CursorNotFound
    47 NoMatchingDocument
    48 NamespaceExists
    50 MaxTimeMSExpired
    52 DollarPrefixedFieldName
    53 InvalidIdField
    54 NotSingleValueField
    55 InvalidDBRef
    56 EmptyFieldName
    57 DottedFieldName
    59 CommandNotFound
    61 ShardKeyNotFound
    63 StaleShardVersion
    64 WriteConcernTimeout
    65 MultipleErrorsOccurred
    66 ImmutableField
    67 CannotCreateIndex
    68 IndexAlreadyExists
    72 InvalidOptions
    73 InvalidNamespace
    76 NoReplicationEnabled
    79 UnknownReplWriteConcern
    85 IndexOptionsConflict
    86 IndexKeySpecsConflict
    89 NetworkTimeout
    91 ShutdownInProgress
    96 OperationFailed
    98 DBPathInUse
    100 UnsatisfiableWriteConcern
    101 OutdatedClient
    107 FailPointSetFailed
    111 NotExactValueField
    112 WriteConflict
    115 CommandNotSupported
    116 DocTooLargeForCapped
    117 ConflictingOperationInProgress
    121 DocumentValidationFailure
    123 NotAReplicaSet
    125 CommandFailed
    133 FailedToSatisfyReadPreference
    134 ReadConcernMajorityNotAvailableYet
    136 CappedPositionLost
    143 CursorInUse
    146 ExceededMemoryLimit
    150 StaleEpoch
    159 DurationOverflow
    160 MaxStalenessOutOfRange
    161 IncompatibleCollationVersion
    165 ViewDepthLimitExceeded
    166 CommandNotSupportedOnView
    167 OptionNotSupportedOnView
    168 InvalidPipelineOperator
    171 CannotIndexParallelArrays
    175 QueryPlanKilled
    181 AmbiguousIndexKeyPattern
    182 InvalidViewDefinition
    183 ClientMetadataMissingField
    184 ClientMetadataAppNameTooLarge
    185 ClientMetadataDocumentTooLarge
    186 ClientMetadataCannotBeMutated
    189 PrimarySteppedDown
    197 InvalidIndexSpecificationOption
    205 ClusterTimeFailsRateLimiter
    206 NoSuchSession
    207 InvalidUUID
    217 IncompleteTransactionHistory
    222 CloseChangeStream
    223 IllegalOpMsgFlag
    224 QueryFeatureNotAllowed
    225 TransactionTooOld
    232 MaxSubPipelineDepthExceeded
    233 TooManyDocumentSequences
    234 RetryChangeStream
    237 CursorKilled
    238 NotImplemented
    239 SnapshotTooOld
    241 ConversionFailure
    244 TransactionAborted
    246 SnapshotUnavailable
    251 NoSuchTransaction
    256 TransactionCommitted
    257 TransactionTooLarge
    260 InvalidResumeToken
    261 TooManyLogicalSessions
    262 ExceededTimeLimit
    263 OperationNotSupportedInTransaction
    276 IndexBuildAborted
    279 ClientDisconnect
    280 ChangeStreamFatalError
    285 IndexBuildAlreadyInProgress
    286 ChangeStreamHistoryLost
    288 ChecksumMismatch
    290 TransactionExceededLifetimeLimitSeconds
    291 NoQueryExecutionPlans
    292 QueryExceededMemoryLimitNoDiskUseAllowed
    301 DataCorruptionDetected
    313 TransactionTooLargeForCache
    322 APIVersionError
    323 APIStrictError
    324 APIDeprecationError
    347 APIMismatchError
    352 UnsupportedOpQueryCommand
    359 CannotConvertIndexToUnique
    361 CollectionUUIDMismatch
    365 TemporarilyUnavailable
    462 IngressRequestRateLimitExceeded
    9001 SocketException
    10107 NotWritablePrimary
    10334 BSONObjectTooLarge
    11000 DuplicateKey
    11600 InterruptedAtShutdown
    11601 Interrupted
    11602 InterruptedDueToReplStateChange
    12587 BackgroundOperationInProgressForNamespace
    13297 DatabaseDifferCase
    13388 StaleConfig
    13435 NotPrimaryNoSecondaryOk
    13436 NotPrimaryOrSecondary
    14031 OutOfDiskSpace
    17280 KeyTooLong
    31082 SearchNotEnabled
    40413 IDLDuplicateField
    40414 IDLFailedToParse
    40415 IDLUnknownField
    50768 NotARetryableWriteCommand
}

impl Code {
    /// A code that MongoDB gives a number and no name.
    pub const fn location(number: i32) -> Code {
        Code(number)
    }

    pub const fn number(self) -> i32 {
        self.0
    }

    pub fn name(self) -> Cow<'static, str> {
        match NAMES.binary_search_by_key(&self.0, |(number, _)| *number) {
            Ok(row) => Cow::Borrowed(NAMES[row].1),
            Err(_) => Cow::Owned(format!("Location{}", self.0)),
        }
    }

    /// An error of this code: `Code::BadValue.error("…")`.
    pub fn error(self, message: impl Into<String>) -> crate::Error {
        crate::Error::new(self, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_so_that_names_are_found() {
        assert!(NAMES.is_sorted_by_key(|(number, _)| *number));
        assert_eq!(Code::TypeMismatch.name(), "TypeMismatch");
        assert_eq!(Code::location(51024).name(), "Location51024");
    }
}
