export { accountIdentity, identityAttributes, namedAccount } from './account-identity.ts';
export { realClock } from './clock.ts';
export type { DirectoryClock, DirectoryLog } from './clock.ts';
export { applyLdif } from './connection.ts';
export type {
  AttributeValues,
  BindOptions,
  Connection,
  Established,
  Modification,
  Rename,
  RequestOptions,
  SearchRequest,
} from './connection.ts';
export { checkAttribute, compileFilter, storedProblems } from './directory-checks.ts';
export {
  defaultDirectoryConfig,
  defaultUserFilter,
  directoryFields,
  mergeDirectoryConfig,
  settingsOf,
  shownDirectoryConfig,
} from './directory-config.ts';
export { DirectoryConfig } from './directory-record.ts';
export type { SentDirectoryConfig } from './directory-config.ts';
export { createDirectory } from './directory.ts';
export type { Directory, DirectoryOptions } from './directory.ts';
export type { ServiceBinding, ServiceOptions, VerifyOptions } from './directory-requests.ts';
export { commonNameOf, DnSyntaxError, formatDn, isDn, normalizeDn, parentDn, parseDn, sameDn } from './dn.ts';
export type { DistinguishedName, NamePart, RelativeName } from './dn.ts';
export { LdapEntry } from './entry.ts';
export { LdapDialError, LdapError } from './error.ts';
export type { DialAttempt, LdapErrorCode, LdapErrorDetails } from './error.ts';
export { escapeDnValue, escapeFilterValue } from './escape.ts';
export { FilterSyntaxError, formatFilter, parseFilter } from './filter.ts';
export type { Filter } from './filter.ts';
export { LdifSyntaxError, parseLdif } from './ldif.ts';
export type { LdifAttribute, LdifChange, LdifRecord } from './ldif.ts';
export { Lending } from './lending.ts';
export { ReferralError } from './referral-error.ts';
export { checkReferralHosts, referralHosts } from './referral-hosts.ts';
export { resultCode, resultName } from './result-codes.ts';
export { canonicalServers, checkServerUrls, plainServersWarning, serverUrls } from './server-urls.ts';
export type { ServerHealth } from './servers.ts';
export { keptSecrets, requirePasswordFor, secretMoves } from './secret-moves.ts';
export { parseLdapUrl } from './settings.ts';
export type { LdapSettings, LdapUrl, TlsVersion } from './settings.ts';
export { applyOwnPasswordChange, applyPasswordChange, asAccount, MayNotLogIn, proveBind } from './account-password.ts';
export type { BoundLender, OwnPasswordChange, PasswordChange, PasswordPlace } from './account-password.ts';
export { bindAccountFields, bindAccountSearch, bindNameOf, planOfBind, rootAfter, unsettled } from './bind-account.ts';
export type { BindAccount, SentBindAccount } from './bind-account.ts';
export { joinBindNeighbours, sharersOf, sharingWarnings } from './bind-neighbours.ts';
export { BindRotation } from './bind-rotation.ts';
export type { BindRotationOptions, OpenBind } from './bind-rotation.ts';
export { AccountGone, DirectoryFailed, directoryFailed, DirectoryMisused, outcomeOf, textOf } from './directory-failed.ts';
export { findAccount } from './find-account.ts';
export type { AccountSearch, LocatedAccount } from './find-account.ts';
export { isRefusedBind, withOtherPasswords } from './other-passwords.ts';
export { makePassword, unknownPolicy } from './password-maker.ts';
export type { PasswordRules } from './password-maker.ts';
export { isSchemaName, racfPhrases, schemas } from './schema.ts';
export type { DirectorySchema, SchemaName } from './schema.ts';
