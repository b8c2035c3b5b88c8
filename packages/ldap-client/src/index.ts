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
export type { Directory, DirectoryOptions, ServiceBinding, ServiceOptions, VerifyOptions } from './directory.ts';
export { commonNameOf, DnSyntaxError, formatDn, isDn, normaliseDn, parentDn, parseDn, sameDn } from './dn.ts';
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
export { resultCode, resultName } from './result-codes.ts';
export { canonicalServers, checkServerUrls, serverUrls } from './server-urls.ts';
export type { ServerHealth } from './servers.ts';
export { keptSecrets, requirePasswordFor, secretMoves } from './secret-moves.ts';
export { parseLdapUrl } from './settings.ts';
export type { LdapSettings, LdapUrl, TlsVersion } from './settings.ts';
