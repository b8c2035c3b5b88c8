export {
  answerForm,
  AnyAnswer,
  IssuedToken,
  leased,
  mayBeEmpty,
  NoContent,
  orNoContent,
  rawAnswer,
  Refusal,
  RenewedLease,
  Seconds,
  streamedAnswer,
  Timestamp,
  Warned,
  type Answered,
  type AnswerForm,
} from './answer.ts';
export { requireSecretsAgain, type AddressChange } from './address-change.ts';
export type { AuthRenewal, IssuedAuth, LoginAlias, RenewedAuth, TokenTerms } from './auth.ts';
export { retryDelay, type Backoff } from './backoff.ts';
export { cidrOutside, isCidr, sharedCidrs, withinCidrs } from './cidr.ts';
export type { Circuit, CircuitSettings, CircuitStatus } from './circuit.ts';
export { systemClock, type Clock } from './clock.ts';
export { closest, wordDistance } from './closest.ts';
export { LinkedList, type ListEntry } from './linked-list.ts';
export { TimeoutQueue, type QueuedTimeout } from './timeout-queue.ts';
export { abortable, Deadline, DeadlineIgnored, waitAtMost, withDeadline, type DeadlineOptions } from './deadline.ts';
export { endOfTurn } from './end-of-turn.ts';
export { compileDecoder, decodeValue, type Decoded, type Decoder, type DecoderOptions } from './decode.ts';
export {
  API_VERSION,
  type Engine,
  type EngineHost,
  type EnginePackage,
  type LoginFlow,
  type Plugin,
  type RefusedPlugin,
  type SystemMount,
} from './engine.ts';
export { DurationError, formatDuration, parseDuration } from './duration.ts';
export * from './errors.ts';
export { f, fieldSpec, idempotencyFields, type Field, type FieldKind, type FieldOptions, type FieldSpec, type Fold } from './field.ts';
export type { FailingThing, Subject } from './failing-thing.ts';
export { foldName } from './fold-name.ts';
export { holderSource, pageOfHolders, type HeldPolicies, type HolderPage, type HolderSource, type PolicyHolder } from './policy-holder.ts';
export { reserveCode, runAttributed, notifyOwner, type CodeOwner } from './attribution.ts';
export { foreignText, LONGEST_FOREIGN_TEXT, thrownText, type Secrets } from './foreign-text.ts';
export type { AnyIntent, Intent } from './intent.ts';
export type { IntentKind, OpenIntent } from './intent-kind.ts';
export { probeServer, type ProbeFacts, type ServerProbe } from './server-probe.ts';
export { StepFailed, StepTrace, testReport, untilStepFails, type StepReport, type StepTaking } from './step-trace.ts';
export { isLoopbackHost } from './loopback-host.ts';
export * from './json/index.ts';
export {
  boundsOf,
  folderList,
  type FolderList,
  foldersPath,
  keysOf,
  ListedKeys,
  namesBelow,
  namesPath,
  pageFields,
  pageIn,
  slicePage,
  type NamesPath,
  type Page,
} from './listing.ts';
export { silentLog, type Log } from './log.ts';
export type { AccountManager, ManagedAccount } from './managed-account.ts';
export { mapConcurrently } from './map-concurrently.ts';
export { NameMark, type NameMarkOptions } from './name-mark.ts';
export type { IdentityClaims, IdentityToken, IdentityTokenOrder, MountIdentity } from './mount-identity.ts';
export type { MountInfo } from './mount-info.ts';
export type { EnginePool } from './engine-pool.ts';
export {
  noOrphan,
  orphanCopiesWarning,
  orphanFields,
  orphanRemoval,
  removeOrphans,
  type OrphanChoice,
  type OrphanRemover,
  type OrphanRequest,
  type RemovedOrphans,
} from './orphan-removal.ts';
export type { OutsideThing } from './outside-thing.ts';
export { own } from './own.ts';
export {
  path,
  type About,
  type Access,
  type AnyPath,
  type Captures,
  type CountedLogin,
  type LoginName,
  type LoginOrigin,
  type Op,
  type Operations,
  type Path,
  type Reply,
} from './path.ts';
export { randomPaths } from './random-paths.ts';
export { PluginGuard, type PluginGuardOptions } from './plugin-guard.ts';
export { Quarantine, QUARANTINE_MILLIS, type Quarantined } from './quarantine.ts';
export { redact } from './redact.ts';
export type { Report, ReportKind } from './report.ts';
export { requestOf, signalOf } from './request-of.ts';
export type { Caller, EngineRequest, EngineResponse, Operation, RawBody, StreamedBody } from './request.ts';
export type { AnySchedule, JobRun, Schedule } from './schedule.ts';
export type { JobStatus, JobTry, ScheduleKind } from './schedule-kind.ts';
export { checkRecord, compileSchema, type SchemaCheck } from './schema.ts';
export { reasonToWait, shownCircuit, ShownCircuit, shownFailure, ShownFailure } from './shown-circuit.ts';
export { shownFields } from './shown-fields.ts';
export { COPY_ORIGIN } from './secret-source.ts';
export type { SecretSubscriber, SecretSource, SecretSources, SourceMount, SourceSecret } from './secret-source.ts';
export type { SnapshotPlace, SnapshotStorage, SnapshotStoragePlugin, StagedSnapshot, StoredSnapshot } from './snapshot-storage.ts';
export { issue, type AnySecretType, type IssuedSecret, type Lease, type LeaseTerms, type SecretType } from './secret-type.ts';
export type { Collection, CollectionOptions, FolderQuery, ListQuery, StorageView, Transaction } from './storage-view.ts';
export { WatchedCircuit, type LastFailure } from './watched-circuit.ts';
export { inSpan, traced, type SpanAttributes, type SpanStart, type Tracer, type TraceSpan } from './tracer.ts';
export { defaultTokenParameters, mergeTokenParameters, tokenFields, TokenParameters, tokenTerms } from './token-parameters.ts';
export { parseTimestamp } from './timestamp.ts';
export { unrecognizedFields } from './unrecognized-fields.ts';
