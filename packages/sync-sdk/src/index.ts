export { MASK, maskedFields, secretFields, secretsOf } from './connection-secrets.ts';
export type {
  DestinationSession,
  Granularity,
  ListRequest,
  Ownership,
  PutRequest,
  ReadRequest,
  RemoteSecret,
  RemoveRequest,
  SharedAccounts,
  SyncDestinationPlugin,
} from './destination.ts';
export {
  AddressRefused,
  ClientSideError,
  ConfigurationInvalid,
  ExternalServiceError,
  isSyncError,
  NameTaken,
  parseRetryAfter,
  SessionClosed,
  SyncError,
  Throttled,
} from './errors.ts';
export type { SyncErrorCode, SyncErrorOptions } from './errors.ts';
export type { DestinationHost } from './host.ts';
export { jsonCall } from './json-call.ts';
export type { JsonAnswer, JsonCall } from './json-call.ts';
export { nameComplaint, tagsComplaint } from './limits.ts';
export type { DestinationLimits, KeyLimits, NameLimits, Pace, TagLimits } from './limits.ts';
export { NAME_TEMPLATE_FIELDS } from './name-template.ts';
export { addressRefusal, createNetworkGuard } from './network-guard.ts';
export type { NetworkGuard, NetworkGuardOptions, ResolvedAddress } from './network-guard.ts';
export { NetworkPolicy } from './network-rules.ts';
export type { NetworkRules } from './network-rules.ts';
export { formatMark, OWNER_TAG, parseMark, SYNCED_TAG } from './ownership.ts';
export type { OwnershipMark } from './ownership.ts';
export { SessionCalls } from './session-calls.ts';
