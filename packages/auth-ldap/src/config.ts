import { policyNames } from '@strongroom/auth-sdk';
import { BadRequest, defaultTokenParameters, f, mergeTokenParameters, tokenFields, TokenParameters } from '@strongroom/engine-sdk';
import {
  checkAttribute,
  defaultDirectoryConfig,
  DirectoryConfig,
  directoryFields,
  isDn,
  mergeDirectoryConfig,
  shownDirectoryConfig,
  storedProblems,
} from '@strongroom/ldap-client';
import { Type } from 'typebox';

/** The parameters of `config`, with Vault's and OpenBao's names. */
export const configFields = {
  ...directoryFields,
  netbiosname: f.string(
    'NetBIOS name of the Active Directory domain: <netbiosname>\\<username> logs in as well. Default: the first part of upndomain.',
  ),
  ...tokenFields,
} as const;

/** The record at `config`. */
export const LdapAuthConfig = Type.Object({
  ...DirectoryConfig.properties,
  netbiosname: Type.Optional(Type.String()),
  ...TokenParameters.properties,
});
export type LdapAuthConfig = DirectoryConfig & { readonly netbiosname?: string } & TokenParameters;

export const defaultConfig: LdapAuthConfig = { ...defaultDirectoryConfig, ...defaultTokenParameters };

/** What a write makes of the stored record: only what was sent changes, explicit empty texts too. @throws BadRequest naming the parameter */
export function mergeConfig(
  stored: LdapAuthConfig,
  data: { readonly [K in keyof LdapAuthConfig]?: LdapAuthConfig[K] | undefined },
  supplied: ReadonlySet<string>,
): LdapAuthConfig {
  const netbiosname = supplied.has('netbiosname') ? (data.netbiosname ?? '').trim() : (stored.netbiosname ?? '');
  const config = {
    ...mergeDirectoryConfig(stored, data, supplied),
    ...(netbiosname === '' ? {} : { netbiosname }),
    ...mergeTokenParameters(stored, data, supplied),
  };
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
export function shownConfig(config: LdapAuthConfig): Omit<LdapAuthConfig, 'bindpass' | 'client_tls_cert' | 'client_tls_key'> {
  return shownDirectoryConfig(config);
}

/** What is allowed, but likely a mistake. `supplied`: what a write has sent, and has checked. */
export function configWarnings(config: LdapAuthConfig, supplied: ReadonlySet<string>): string[] {
  return [...filterWarnings(config), ...bindNameWarnings(config), ...storedProblems(config, supplied)];
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
