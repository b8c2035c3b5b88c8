import { BadRequest, f } from '@strongroom/engine-sdk';
import {
  DirectoryConfig,
  type DirectorySchema,
  type LdapSettings,
  type SentDirectoryConfig,
  type ServiceBinding,
  bindAccountFields,
  bindNameOf,
  rootAfter,
  checkServerUrls,
  defaultDirectoryConfig,
  directoryFields,
  isDn,
  isSchemaName,
  mergeDirectoryConfig,
  racfPhrases,
  schemas,
  serverUrls,
  settingsOf,
  shownDirectoryConfig,
} from '@strongroom/ldap-client';
import { rootPlanOf, rootPlanParameters, rotatesByItself, visiblePlan, type SentPlan } from '@strongroom/rotation';
import { Type, type Static } from 'typebox';

/** The parameters of `config`, with the names that Vault and OpenBao use. */
export const configFields = {
  ...directoryFields,
  userattr: f.string('Attribute that names an account; default cn for openldap, userPrincipalName for ad, racfid for racf.'),
  binddn: f.string('Name of the account that manages the others: it searches, and changes passwords.'),
  bindpass: f.secret('Password of binddn. A write without it keeps the one that is stored. Excludes self_managed.'),
  self_managed: f.bool(
    'The mount has no service account: the accounts of static roles log in, and change their own passwords. Excludes bindpass; binddn has no effect.',
  ),
  userdn: f.string('Base of the search for accounts of static roles and of the library.'),
  upndomain: f.string('Domain of Active Directory: binddn, where it is a plain name, logs in as <binddn>@<upndomain>.'),
  request_timeout: f.duration(
    'Time for one request; 0 for the default of 90 seconds. With connection_timeout, the smaller is used for both.',
  ),
  connection_timeout: f.duration('Time before the next URL is tried; 0 for the default of 30 seconds. Use request_timeout.', {
    deprecated: true,
  }),
  schema: f.string('openldap, ad or racf.'),
  credential_type: f.string('What RACF gets: password or phrase. Only with the schema racf.'),
  password_policy: f.string('Name of the password policy for all passwords made here. Excludes length.'),
  length: f.int('Length of the passwords made here, of letters and digits; default 64. Excludes password_policy, which should be used.', {
    minimum: 0,
    maximum: 4_096,
    deprecated: true,
  }),
  ttl: f.duration('Length of leases of dynamic roles that set none.'),
  max_ttl: f.duration('Length that renewals can reach for dynamic roles that set none.'),
  skip_static_role_import_rotation: f.bool('Do not change the password when a static role is made, unless the role says otherwise.'),
  ...rootPlanParameters,
} as const;

/** What a password should have at least; that of RACF. */
const SHORTEST = 8;

/** How long a password phrase of RACF may be, in characters. */
export const phraseLengths = { least: 9, most: 100 } as const;

const CredentialType = Type.Union([Type.Literal('password'), Type.Literal('phrase')]);
const Schema = Type.Union([Type.Literal('openldap'), Type.Literal('ad'), Type.Literal('racf')]);

/** The record at `config`. Timeouts of 0 and an empty userattr stand for defaults. */
export const LdapSecretsConfig = Type.Object({
  ...DirectoryConfig.properties,
  schema: Schema,
  /** Absent in records of older releases. */
  credential_type: Type.Optional(CredentialType),
  password_policy: Type.String(),
  length: Type.Number(),
  ttl: Type.Number(),
  max_ttl: Type.Number(),
  skip_static_role_import_rotation: Type.Boolean(),
  /** Absent in records of older releases, and with a service account. */
  self_managed: Type.Optional(Type.Boolean()),
  /** Another one with every write: previous connections are not used any more. */
  edition: Type.String(),
  ...bindAccountFields,
});
export type LdapSecretsConfig = Static<typeof LdapSecretsConfig>;

const defaultConfig: Omit<LdapSecretsConfig, 'edition'> = {
  ...defaultDirectoryConfig,
  userattr: '',
  request_timeout: 0,
  connection_timeout: 0,
  schema: 'openldap',
  password_policy: '',
  length: 0,
  ttl: 0,
  max_ttl: 0,
  skip_static_role_import_rotation: false,
};

export interface SentConfig extends SentDirectoryConfig, Omit<SentPlan, 'first_rotation_offset'> {
  readonly schema?: string | undefined;
  readonly credential_type?: string | undefined;
  readonly password_policy?: string | undefined;
  readonly length?: number | undefined;
  readonly ttl?: number | undefined;
  readonly max_ttl?: number | undefined;
  readonly skip_static_role_import_rotation?: boolean | undefined;
  readonly self_managed?: boolean | undefined;
}

/** What a write makes of the stored record: only what was sent changes. @throws BadRequest */
export function mergeConfig(
  stored: LdapSecretsConfig | undefined,
  sent: SentConfig,
  supplied: ReadonlySet<string>,
  edition: string,
): LdapSecretsConfig {
  const before = stored ?? { ...defaultConfig, edition };
  const schema = sent.schema ?? before.schema;
  if (!isSchemaName(schema)) {
    throw new BadRequest(`the configured schema ${schema} is not valid. Supported schemas: [openldap racf ad]`);
  }
  const { credential_type: _was, ...kept } = before;
  const credentialType = sent.credential_type ?? before.credential_type ?? 'password';
  if (credentialType !== 'password' && credentialType !== 'phrase') {
    throw new BadRequest(`credential_type: ${JSON.stringify(credentialType)} is neither password nor phrase`);
  }
  if (sent.password_policy && sent.length) throw new BadRequest("cannot set both 'password_policy' and 'length'");
  const { root: _past, plan: _before, referral_hosts: _followed, self_managed: isSelfManaged = false, ...rest } = kept;
  const selfManaged = sent.self_managed ?? isSelfManaged;
  const root = selfManaged ? undefined : rootAfter(before, sent);
  const plan = rootPlanOf(before.plan, sent);
  const directory = mergeDirectoryConfig(before, sent, supplied);
  const config: LdapSecretsConfig = {
    ...rest,
    ...directory,
    url: checkServerUrls(directory.url),
    schema,
    ...(credentialType === 'phrase' ? { credential_type: credentialType } : {}),
    // Each of the two replaces the other.
    password_policy: sent.password_policy ?? (sent.length ? '' : before.password_policy),
    length: sent.length ?? (sent.password_policy ? 0 : before.length),
    ttl: sent.ttl ?? before.ttl,
    max_ttl: sent.max_ttl ?? before.max_ttl,
    skip_static_role_import_rotation: sent.skip_static_role_import_rotation ?? before.skip_static_role_import_rotation,
    edition,
    plan,
    ...(selfManaged ? { self_managed: true } : {}),
    ...(root ? { root } : {}),
  };
  check(config);
  return config;
}

function check(config: LdapSecretsConfig): void {
  if (config.self_managed) checkSelfManaged(config);
  else if (config.binddn === '') throw new BadRequest('cannot derive UserBindDN: binddn must be set');
  else if (config.bindpass === '') throw new BadRequest('bindpass must be set: the password of binddn');
  if (config.url === '') throw new BadRequest('at least one url must be provided');
  if (!/^([A-Za-z][A-Za-z0-9-]*|[0-9]+(\.[0-9]+)*)?$/.test(config.userattr)) {
    throw new BadRequest(`unsupported userattr ${JSON.stringify(config.userattr)}: not the name of an attribute`);
  }
  if (config.userdn !== '' && !isDn(config.userdn)) {
    throw new BadRequest(`userdn: ${JSON.stringify(config.userdn)} is not a distinguished name, such as ou=services,dc=example,dc=org`);
  }
  if (config.credential_type === 'phrase') checkPhrases(config);
  if (config.max_ttl > 0 && config.ttl > config.max_ttl) {
    throw new BadRequest(`ttl (${config.ttl} s) is longer than max_ttl (${config.max_ttl} s)`);
  }
}

/** What a configuration without a service account cannot have beside it. @throws BadRequest */
function checkSelfManaged({ bindpass, referral_hosts, plan }: LdapSecretsConfig): void {
  if (bindpass !== '') {
    throw new BadRequest(
      'bindpass: exactly one of bindpass and self_managed can be set; leave bindpass out, or send it empty where it is stored, or set self_managed to false',
    );
  }
  if (referral_hosts !== undefined && referral_hosts !== '') {
    throw new BadRequest(
      'referral_hosts: referrals are followed with a service account, which a self_managed mount does not have; leave it out, or send it empty',
    );
  }
  if (rotatesByItself(plan)) {
    throw new BadRequest(
      'rotation_period and rotation_schedule rotate the password of binddn, which a self_managed mount does not have; leave them out, or send rotation_period=0',
    );
  }
}

function checkPhrases({ schema, length }: LdapSecretsConfig): void {
  const { least, most } = phraseLengths;
  if (schema !== 'racf') {
    throw new BadRequest(`credential_type: the schema ${schema} has no phrases; send password, or set schema to racf`);
  }
  if (length > 0 && (length < least || length > most)) {
    throw new BadRequest(`length: a phrase of RACF has ${least} to ${most} characters, not ${length}`);
  }
}

/** The warning for passwords that are easily guessed. */
export function shortPasswords({ length }: LdapSecretsConfig): string | undefined {
  if (length === 0 || length >= SHORTEST) return undefined;
  return `length: passwords of ${length} characters are easily guessed, and directories may refuse them; send at least ${SHORTEST}, or 0 for the default of 64`;
}

/** What a read shows: everything but secrets. */
export function shownConfig(config: LdapSecretsConfig) {
  const { edition: _ours, use_pre111_group_cn_behavior: _ofLogins, ...shown } = shownDirectoryConfig(config);
  const { root, plan, password_policy, length, ttl, max_ttl, ...rest } = shown;
  return {
    ...rest,
    userattr: userAttributeOf(config),
    ...(config.schema === 'racf' ? { credential_type: config.credential_type ?? 'password' } : {}),
    request_timeout: config.request_timeout || defaultDirectoryConfig.request_timeout,
    connection_timeout: config.connection_timeout || defaultDirectoryConfig.connection_timeout,
    ...(password_policy === '' ? {} : { password_policy }),
    ...(length === 0 ? {} : { length }),
    ...(ttl === 0 ? {} : { ttl }),
    ...(max_ttl === 0 ? {} : { max_ttl }),
    ...(plan ? visiblePlan(plan) : {}),
    ...(root && root.last_rotation > 0 ? { last_bind_password_rotation: new Date(root.last_rotation).toISOString() } : {}),
  };
}

export function schemaOf({ schema, credential_type }: LdapSecretsConfig): DirectorySchema {
  return credential_type === 'phrase' ? racfPhrases : schemas[schema];
}

export function userAttributeOf(config: LdapSecretsConfig): string {
  return config.userattr === '' ? schemaOf(config).userAttribute : config.userattr;
}

/** The settings of the client: where both timeouts were set, the smaller one counts for both. */
export function clientSettings(config: LdapSecretsConfig): LdapSettings {
  const { request_timeout, connection_timeout } = config;
  const smaller = Math.min(request_timeout, connection_timeout);
  const settings = settingsOf(smaller === 0 ? config : { ...config, request_timeout: smaller, connection_timeout: smaller });
  return { ...settings, urls: serverUrls(config.url) };
}

/** Who manages the directory, by this password or by the stored one. */
export function serviceBinding(config: LdapSecretsConfig, password = config.bindpass): ServiceBinding {
  return { dn: bindNameOf(config), password };
}
