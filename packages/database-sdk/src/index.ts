export {
  connectionSecrets,
  connectionUrlFields,
  connectionUrlPasswords,
  connectionUrlSecrets,
  maskConnectionUrl,
  secretFields,
  visibleConnection,
} from './connection-secrets.ts';
export { addressFields, defaultIdentity, isSaferValue, systemName } from './connection-address.ts';
export { connectionUrlForm, renderConnectionUrl } from './connection-url.ts';
export type { ConnectionUrlForm, ConnectionUrlValues } from './connection-url.ts';
export { durationSetting } from './duration-setting.ts';
export { driverErrorText } from './driver-error-text.ts';
export {
  ConfigurationInvalid,
  ConnectionLost,
  CredentialUnsupported,
  DatabaseError,
  isDatabaseError,
  loginFailureOf,
  sentBefore,
  SessionClosed,
  StatementFailed,
  StatementInvalid,
  VerificationFailed,
} from './errors.ts';
export type { DatabaseErrorCode, LoginFailure } from './errors.ts';
export type {
  AddPasswordRequest,
  ChangeOwnPasswordRequest,
  ConnectionIdentity,
  CreateUserRequest,
  Credential,
  CredentialType,
  DatabaseHost,
  DatabaseLog,
  DatabasePlugin,
  DatabaseSession,
  DeleteUserRequest,
  EndPasswordsRequest,
  ListUsersRequest,
  OwnedObjects,
  PoolStatus,
  PreviewRequest,
  RenewUserRequest,
  Statements,
  TwoPasswords,
  UpdateUserRequest,
  UserRequest,
} from './plugin.ts';
export { opensslSubject } from './openssl-subject.ts';
export { present } from './present.ts';
export { pemFields, pemMaterial, requireUsablePem } from './pem-material.ts';
export type { PemMaterial } from './pem-material.ts';
export { abortable, redact } from '@strongroom/engine-sdk';
export { redactCut } from './redact-cut.ts';
export { passwordOf, serialCreation, type SerialRules, SerialSession, timestampText, undoSignal } from './serial-session.ts';
export { sqlConnectionFields, tlsCaField } from './sql-connection.ts';
export { cqlDialect, influxqlDialect, mssqlDialect, mysqlDialect, postgresqlDialect } from './sql-dialect.ts';
export type { QuoteStyle, SqlDialect } from './sql-dialect.ts';
export { scanSql } from './sql-scan.ts';
export type { SqlSegment } from './sql-scan.ts';
export { decodeStatementElement, quoted, renderJsonStatement, renderStatements, splitStatements } from './statements.ts';
export type { StatementValues } from './statements.ts';
export { tlsMinVersion } from './tls-version.ts';
export { safeNamePart } from './user-name.ts';
