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
    6 HostUnreachable
    9 FailedToParse
    11 UserNotFound
    13 Unauthorized
    14 TypeMismatch
    15 Overflow
    16 InvalidLength
    17 ProtocolError
    18 AuthenticationFailed
    20 IllegalOperation
    22 InvalidBSON
    26 NamespaceNotFound
    27 IndexNotFound
    28 PathNotViable
    40 ConflictingUpdateOperators
    43 CursorNotFound
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
    65 MultipleErrorsOccurred
    66 ImmutableField
    67 CannotCreateIndex
    68 IndexAlreadyExists
    72 InvalidOptions
    73 InvalidNamespace
    77 WriteConcernNotDefined
    85 IndexOptionsConflict
    86 IndexKeySpecsConflict
    89 NetworkTimeout
    91 ShutdownInProgress
    96 OperationFailed
    100 UnsatisfiableWriteConcern
    101 OutdatedClient
    110 NotAReplicaSet
    111 UnsupportedFormat
    112 WriteConflict
    115 CommandNotSupported
    117 ConflictingOperationInProgress
    121 DocumentValidationFailure
    125 CommandFailed
    136 CappedPositionLost
    146 ExceededMemoryLimit
    159 DurationOverflow
    165 ViewDepthLimitExceeded
    166 CommandNotSupportedOnView
    167 OptionNotSupportedOnView
    168 InvalidPipelineOperator
    171 CannotMutateFieldsOfClusteredIndex
    181 AmbiguousIndexKeyPattern
    197 InvalidIndexSpecificationOption
    206 NoSuchSession
    217 IncompleteTransactionHistory
    222 CloneFailed
    224 QueryPlanKilled
    225 TransactionTooOld
    237 CursorKilled
    238 NotImplemented
    241 ConversionFailure
    244 TransactionAborted
    246 SnapshotUnavailable
    251 NoSuchTransaction
    256 TransactionCommitted
    257 TransactionTooLarge
    262 ExceededTimeLimit
    263 OperationNotSupportedInTransaction
    277 ResumableRangeDeleterDisabled
    280 ChangeStreamFatalError
    286 ChangeStreamHistoryLost
    290 TransactionExceededLifetimeLimitSeconds
    291 NoQueryExecutionPlans
    292 QueryExceededMemoryLimitNoDiskUseAllowed
    301 DataCorruptionDetected
    303 APIStrictError
    322 APIVersionError
    323 APIMismatchError
    10334 BSONObjectTooLarge
    11000 DuplicateKey
    11600 InterruptedAtShutdown
    11601 Interrupted
    14031 OutOfDiskSpace
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
        assert_eq!(Code::location(40415).name(), "Location40415");
    }
}
