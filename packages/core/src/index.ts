export type { AuditDeviceConfig } from './services/audit/audit-broker.ts';
export type { AuditDevice, AuditDevicePlugin } from './services/audit/audit-device.ts';
export { createCore, type Core } from './core.ts';
export type { CoreOptions } from './core-options.ts';
export type { AbsentPlugin } from './services/plugins/absent-plugin.ts';
export { PluginRefused } from './services/plugins/plugin-refused.ts';
export type { AnsweredCall } from './kernel/call/answered-call.ts';
export type { CoreRequest, RequestOperation, TokenlessCeremony } from './kernel/call/core-request.ts';
export {
  emptyResponse,
  type AuthReply,
  type CoreResponse,
  type MfaRequirement,
  type PendingAuth,
  type WrapInfo,
} from './kernel/call/core-response.ts';
export type { OpenPgp, PgpPublicKey } from './services/ceremony/pgp-keys.ts';
export type { ConfiguredSeal, SealHealthSettings } from './services/seal/configured-seal.ts';
export type { KeySeal } from './services/seal/key-seal.ts';
export type { SealState } from './services/seal/seal-health.ts';
export type { ConsoleSettings } from './services/settings/console-settings.ts';
export type { CorsConfig } from './services/settings/cors-config.ts';
export type { PageHeaders } from './services/settings/page-headers.ts';
export type { FollowedLog, LineFormat } from './services/following/log-lines.ts';
export type { Timed } from './services/figures/request-timings.ts';
export { Timing } from './services/figures/timing.ts';
export type { DueOfKind, WaitingWork } from './services/figures/due-figures.ts';
export type { AuditFigures } from './services/audit/audit-broker.ts';
export type { Loggers } from './kernel/loggers.ts';
export { shareOf } from './kernel/share-of-limit.ts';
export { alone, type Siblings } from './kernel/siblings.ts';
export { LogLevels, logLevel, type LogLevel, type LogLevelStore } from './services/settings/log-levels.ts';
export type { LockoutDefaults, UserLockoutConfig } from './services/lockout/lockout-settings.ts';
export { openApiOf } from './services/documents/openapi.ts';
export { API_COMPATIBLE_VERSION, PRODUCT_VERSION, VERSION } from './kernel/version.ts';
export type { MountCounts, WorkFigures } from './services/figures/figures.ts';
export type { Counted } from './services/figures/mount-counters.ts';
export type { QuotaFigures } from './services/quotas/quotas.ts';
export { MIGRATION } from './kernel/barrier/barrier.ts';
export { declaredStatuses } from './services/documents/declared-statuses.ts';
