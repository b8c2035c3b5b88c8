export { sealContract } from './contract.ts';
export { openEnvelope, sealEnvelope } from './envelope.ts';
export {
  isSealError,
  SealClosed,
  SealError,
  SealPermissionDenied,
  SealSettingsInvalid,
  SealThrottled,
  SealUnavailable,
  SealWrongKey,
} from './errors.ts';
export type { SealErrorCode, SealErrorOptions } from './errors.ts';
export { SealCalls } from './seal-calls.ts';
export type { ContractRunner, ContractSkip, SealContract, SealFailure, SealWorld } from './seal-contract.ts';
export type { KeyIdRequest, SealHost, SealPlugin, SealSession, UnwrapRequest, WrappedBlob, WrapRequest } from './seal-plugin.ts';
export { readSettings, type ReadSettings, type SettingRemark } from './read-settings.ts';
export { namedValue, type NamedValue, type SettingFile } from './named-value.ts';
export type { SettingSources } from './setting-value.ts';
export { setting } from './settings.ts';
export type { Setting, SettingKind, SettingOptions, Settings, SettingValues, TextOptions } from './settings.ts';
export { staticSeal } from './static-seal.ts';
