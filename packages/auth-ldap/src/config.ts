import { policyNames } from '@strongroom/auth-sdk';
import {
  BadRequest,
  defaultTokenParameters,
  f,
  mergeTokenParameters,
  tokenFields,
  TokenParameters,
  type Collection,
  type StorageView,
} from '@strongroom/engine-sdk';
import {
  bindAccountFields,
  checkAttribute,
  defaultDirectoryConfig,
  DirectoryConfig,
  directoryFields,
  isDn,
  isSchemaName,
  mergeDirectoryConfig,
  plainServersWarning,
  rootAfter,
  shownDirectoryConfig,
  storedProblems,
  type BindAccount,
  type SchemaName,
} from '@strongroom/ldap-client';
import { rootPlanOf, rootPlanParameters, visiblePlan, type SentPlan } from '@strongroom/rotation';
import { Type } from 'typebox';

/** The parameters of `config`, with Vault's and OpenBao's names. */
export const configFields = {
  ...directoryFields,
  netbiosname: f.string(
    'NetBIOS name of the Active Directory domain: <netbiosname>\\<username> logs in as well. Default: the first part of upndomain.',
  ),
  enable_samaccountname_login: f.bool('With upndomain, find users by sAMAccountName as well as by userPrincipalName.'),
  schema: f.string(
    'How rotate-root changes a password: openldap, ad or racf. Default: ad with upndomain, or with samaccountname or userprincipalname as userattr.',
  ),
  password_policy: f.string('Name of the password policy for the passwords that rotate-root makes. Default: 64 letters and digits.'),
  ...rootPlanParameters,
  ...tokenFields,
} as const;

/** The record at `config`. */
export const LdapAuthConfig = Type.Object({
  ...DirectoryConfig.properties,
  netbiosname: Type.Optional(Type.String()),
  enable_samaccountname_login: Type.Optional(Type.Boolean()),
  schema: Type.Optional(Type.String()),
  password_policy: Type.Optional(Type.String()),
  ...bindAccountFields,
  ...TokenParameters.properties,
});
export type LdapAuthConfig = DirectoryConfig &
  Pick<BindAccount, 'root' | 'plan'> & {
    readonly netbiosname?: string;
    readonly enable_samaccountname_login?: boolean;
    readonly schema?: string;
    readonly password_policy?: string;
  } & TokenParameters;

const PREFIX = 'config/';
/** The only record below `config/`. */
export const CONFIG = 'ldap';

/** The configurations of a mount, of which there is one. */
export function configsIn(storage: Pick<StorageView, 'collection'>): Collection<LdapAuthConfig> {
  return storage.collection(PREFIX, LdapAuthConfig, { cached: true });
}

export const isConfigKey = (key: string): boolean => key.startsWith(PREFIX);

export const defaultConfig: LdapAuthConfig = { ...defaultDirectoryConfig, ...defaultTokenParameters };

/** What a write makes of the stored record: only what was sent changes, explicit empty texts too. @throws BadRequest naming the parameter */
export function mergeConfig(
  stored: LdapAuthConfig,
  data: Omit<{ readonly [K in keyof LdapAuthConfig]?: LdapAuthConfig[K] | undefined }, 'root' | 'plan'> &
    Omit<SentPlan, 'first_rotation_offset'>,
  supplied: ReadonlySet<string>,
): LdapAuthConfig {
  const text = (name: 'netbiosname' | 'schema' | 'password_policy'): string =>
    supplied.has(name) ? (data[name] ?? '').trim() : (stored[name] ?? '');
  const [netbiosname, schema, password_policy] = [text('netbiosname'), text('schema').toLowerCase(), text('password_policy')];
  const { root: _past, plan: _before, enable_samaccountname_login: _was, ...before } = stored;
  const byAccountName = data.enable_samaccountname_login ?? stored.enable_samaccountname_login ?? false;
  const root = rootAfter(stored, data);
  const isPlanned = Object.keys(rootPlanParameters).some((name) => supplied.has(name));
  const plan = isPlanned ? rootPlanOf(stored.plan, data) : stored.plan;
  const config = {
    ...mergeDirectoryConfig(before, data, supplied),
    ...(netbiosname === '' ? {} : { netbiosname }),
    ...(byAccountName ? { enable_samaccountname_login: true } : {}),
    ...(schema === '' ? {} : { schema }),
    ...(password_policy === '' ? {} : { password_policy }),
    ...(plan ? { plan } : {}),
    ...(root ? { root } : {}),
    ...mergeTokenParameters(stored, data, supplied),
  };
  if (schema !== '' && !isSchemaName(schema)) throw new BadRequest(`schema: ${JSON.stringify(schema)} is none of openldap, ad and racf`);
  if (supplied.has('url') && config.url === '') throw new BadRequest('url: at least one URL is needed, such as ldaps://dc1.example.org');
  if (supplied.has('userattr')) checkAttribute('userattr', config.userattr);
  if (!/^[^\\/:*?"<>|@,\s]{0,15}$/.test(netbiosname)) {
    throw new BadRequest(
      'netbiosname: not the NetBIOS name of a domain; write at most 15 characters, without spaces and \\ / : * ? " < > | @',
    );
  }
  if (supplied.has('token_policies')) policyNames(config.token_policies, 'token_policies');
  return config;
}

/** What a read shows. */
export function shownConfig(config: LdapAuthConfig) {
  const { root, plan, ...shown } = shownDirectoryConfig(config);
  return {
    ...shown,
    ...(plan ? visiblePlan(plan) : {}),
    ...(root && root.last_rotation > 0 ? { last_bind_password_rotation: new Date(root.last_rotation).toISOString() } : {}),
  };
}

/** How the directory takes a new password. */
export function schemaOf({ schema, upndomain, userattr }: LdapAuthConfig): SchemaName {
  if (schema !== undefined && isSchemaName(schema)) return schema;
  return upndomain !== '' || ['samaccountname', 'userprincipalname'].includes(userattr) ? 'ad' : 'openldap';
}

/** What is allowed, but likely a mistake. `supplied`: what a write has sent, and has checked. */
export function configWarnings(config: LdapAuthConfig, supplied: ReadonlySet<string>): string[] {
  const plain = supplied.has('url') || supplied.has('starttls') ? plainServersWarning(config) : undefined;
  return [
    ...(plain === undefined ? [] : [plain]),
    ...filterWarnings(config),
    ...bindNameWarnings(config),
    ...accountNameWarnings(config),
    ...storedProblems(config, supplied),
  ];
}

function accountNameWarnings({ enable_samaccountname_login, upndomain }: LdapAuthConfig): string[] {
  if (!enable_samaccountname_login || upndomain !== '') return [];
  return ['enable_samaccountname_login has no effect without upndomain; set upndomain, or set userattr to samaccountname'];
}

function filterWarnings({ userfilter, userattr }: LdapAuthConfig): string[] {
  if (userfilter === '' || /\{\{[^}]*\.UserAttr\b/.test(userfilter)) return [];
  if (userattr !== '' && userfilter.toLowerCase().includes(`(${userattr}=`)) return [];
  return ['userfilter configured does not consider userattr and may result in colliding entity aliases on logins'];
}

/** Active Directory takes more than distinguished names, other directories do not. */
function bindNameWarnings({ binddn }: LdapAuthConfig): string[] {
  if (isDn(binddn) || /[@\\]/.test(binddn)) return [];
  return [
    `binddn: ${JSON.stringify(binddn)} is not a distinguished name, nor name@domain or DOMAIN\\name; most directories refuse to bind it`,
  ];
}
