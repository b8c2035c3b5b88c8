import { BadRequest, f } from '@strongroom/engine-sdk';
import { checkClientCertificate, checkServerCertificate } from './certificates.ts';
import { checkReferralHosts, referralHosts } from './referral-hosts.ts';
import { serverUrls } from './server-urls.ts';
import { checkParameters, compileFilter } from './directory-checks.ts';
import type { LdapSettings, TlsVersion } from './settings.ts';
import type { DirectoryConfig } from './directory-record.ts';

/** The parameters by which an engine's `config` says how a directory is reached and searched, with Vault's and OpenBao's names. */
export const directoryFields = {
  url: f.lowercase('LDAP URLs, separated by commas; tried in order until one connects.'),
  userdn: f.string('Base of the search for users, such as ou=people,dc=example,dc=org.'),
  userattr: f.lowercase('Attribute that holds the name given at login, such as uid or samaccountname.'),
  userfilter: f.string(
    'Template of the filter that finds the user: {{.UserAttr}}, {{.Username}}. Used with binddn and bindpass, or discoverdn.',
  ),
  binddn: f.string('Name of the service account that searches.'),
  bindpass: f.secret('Password of the service account.'),
  discoverdn: f.bool('Find the user by a search, anonymous unless binddn is set.'),
  upndomain: f.string('Users bind as <username>@<upndomain>.'),
  deny_null_bind: f.bool('Refuse empty passwords, which directories take for an anonymous bind.'),
  groupdn: f.string('Base of the search for groups. Empty: no groups of the directory are used.'),
  groupfilter: f.string('Template of the filter that finds the groups of a user: {{.UserDN}}, {{.Username}}. Empty: none are searched.'),
  groupattr: f.string('Attribute of the entries found that names the group: cn of groups, memberOf of users.'),
  anonymous_group_search: f.bool('Search groups over a connection that never binds.'),
  use_token_groups: f.bool("Read the groups from Active Directory's tokenGroups, nested ones included."),
  use_pre111_group_cn_behavior: f.bool('Find the CN of a group only where it is written "CN".'),
  username_as_alias: f.bool('Name the alias of the identity after the name of the login, folded, instead of the value of userattr.'),
  case_sensitive_names: f.bool('Names of users and groups in this mount differ by case.'),
  dereference_aliases: f.string('never, finding, searching or always.'),
  max_page_size: f.int('Page size of group searches; 0 asks for everything at once.', { minimum: 0, maximum: 2_147_483_647 }),
  request_timeout: f.duration('Time for one request; 0 means the default of 90 seconds.'),
  connection_timeout: f.duration('Time to reach one server; 0 means the default of 30 seconds.'),
  starttls: f.bool('Upgrade ldap:// connections with StartTLS.'),
  insecure_tls: f.bool('Accept any server certificate.'),
  tls_min_version: f.string('tls10, tls11, tls12 or tls13.'),
  tls_max_version: f.string('tls10, tls11, tls12 or tls13.'),
  certificate: f.string('PEM of the CAs to trust instead of those of the system.'),
  client_tls_cert: f.string('PEM of the client certificate.'),
  client_tls_key: f.secret('PEM of the key of the client certificate.'),
  referral_hosts: f.string('Hosts to which searches follow referrals, with the service account. Default: none are followed.'),
} as const;

export const defaultUserFilter = '({{.UserAttr}}={{.Username}})';
const defaultGroupFilter = '(|(memberUid={{.Username}})(member={{.UserDN}})(uniqueMember={{.UserDN}}))';

export const defaultDirectoryConfig: DirectoryConfig = {
  url: 'ldap://127.0.0.1',
  userdn: '',
  userattr: 'cn',
  userfilter: defaultUserFilter,
  binddn: '',
  bindpass: '',
  discoverdn: false,
  upndomain: '',
  deny_null_bind: true,
  groupdn: '',
  groupfilter: defaultGroupFilter,
  groupattr: 'cn',
  anonymous_group_search: false,
  use_token_groups: false,
  use_pre111_group_cn_behavior: false,
  username_as_alias: false,
  case_sensitive_names: false,
  dereference_aliases: 'never',
  max_page_size: 0,
  request_timeout: 90,
  connection_timeout: 30,
  starttls: false,
  insecure_tls: false,
  tls_min_version: 'tls12',
  tls_max_version: 'tls12',
  certificate: '',
  client_tls_cert: '',
  client_tls_key: '',
};

/** Some of the parameters, as a caller sent them. */
export type SentDirectoryConfig = { readonly [K in keyof DirectoryConfig]?: DirectoryConfig[K] | undefined };

/** What a write makes of what is stored: only what was sent changes, explicit empty texts too. @throws BadRequest */
export function mergeDirectoryConfig(stored: DirectoryConfig, sent: SentDirectoryConfig, supplied: ReadonlySet<string>): DirectoryConfig {
  const merged: Record<string, unknown> = {};
  for (const key of Object.keys(defaultDirectoryConfig) as (keyof DirectoryConfig)[]) {
    merged[key] = supplied.has(key) ? (sent[key] ?? defaultDirectoryConfig[key]) : stored[key];
  }
  const hosts = checkReferralHosts((supplied.has('referral_hosts') ? sent.referral_hosts : stored.referral_hosts) ?? '');
  const config = { ...(merged as DirectoryConfig), ...(hosts === '' ? {} : { referral_hosts: hosts }) };
  config.url = serverUrls(config.url).join(',');
  checkDirectoryConfig(config);
  checkParameters(config, supplied);
  return config;
}

/** From the oldest to the newest. */
export const tlsVersions: readonly string[] = ['tls10', 'tls11', 'tls12', 'tls13'];

function checkDirectoryConfig(config: DirectoryConfig): void {
  compileFilter(config.userfilter, 'userfilter');
  compileFilter(config.groupfilter, 'groupfilter');
  const least = tlsVersions.indexOf(config.tls_min_version);
  const most = tlsVersions.indexOf(config.tls_max_version);
  if (least < 0) throw new BadRequest("invalid 'tls_min_version'");
  if (most < 0) throw new BadRequest("invalid 'tls_max_version'");
  if (most < least) throw new BadRequest("'tls_max_version' must be greater than or equal to 'tls_min_version'");
  checkServerCertificate(config.certificate);
  checkClientCertificate(config.client_tls_cert, config.client_tls_key);
}

const hidden = ['bindpass', 'client_tls_cert', 'client_tls_key'] as const;

/** What a read may show of a record with these parameters: everything but secrets. */
export function shownDirectoryConfig<C extends DirectoryConfig>(config: C): Omit<C, (typeof hidden)[number]> {
  const shown: Partial<C> = { ...config };
  for (const key of hidden) delete shown[key];
  return shown as Omit<C, (typeof hidden)[number]>;
}

export function settingsOf(config: DirectoryConfig): LdapSettings {
  return {
    urls: serverUrls(config.url),
    starttls: config.starttls,
    insecureTls: config.insecure_tls,
    tlsMinVersion: config.tls_min_version as TlsVersion,
    tlsMaxVersion: config.tls_max_version as TlsVersion,
    certificate: config.certificate,
    clientTlsCert: config.client_tls_cert,
    clientTlsKey: config.client_tls_key,
    connectionTimeoutSeconds: config.connection_timeout === 0 ? undefined : config.connection_timeout,
    referralHosts: referralHosts(config.referral_hosts ?? ''),
    requestTimeoutSeconds: config.request_timeout === 0 ? undefined : config.request_timeout,
  };
}
