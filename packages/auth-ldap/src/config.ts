import { defaultTokenParameters, mergeTokenParameters, tokenFields, TokenParameters } from '@strongroom/engine-sdk';
import { defaultDirectoryConfig, DirectoryConfig, directoryFields, mergeDirectoryConfig } from '@strongroom/ldap-client';
import { Type } from 'typebox';

/** The parameters of `config`, with the incumbents' names. */
export const configFields = { ...directoryFields, ...tokenFields } as const;

/** The record at `config`. */
export const LdapAuthConfig = Type.Object({ ...DirectoryConfig.properties, ...TokenParameters.properties });
export type LdapAuthConfig = DirectoryConfig & TokenParameters;

export const defaultConfig: LdapAuthConfig = { ...defaultDirectoryConfig, ...defaultTokenParameters };

/** What a write makes of the stored record: only what was sent changes, explicit empty texts too. @throws BadRequest */
export function mergeConfig(
  stored: LdapAuthConfig,
  data: { readonly [K in keyof LdapAuthConfig]?: LdapAuthConfig[K] | undefined },
  supplied: ReadonlySet<string>,
): LdapAuthConfig {
  return { ...mergeDirectoryConfig(stored, data, supplied), ...mergeTokenParameters(stored, data, supplied) };
}

/** What is allowed, but likely a mistake. */
export function configWarnings(config: LdapAuthConfig): string[] {
  const { userfilter, userattr } = config;
  if (userfilter === '' || /\{\{[^}]*\.UserAttr\b/.test(userfilter)) return [];
  if (userattr !== '' && userfilter.toLowerCase().includes(`(${userattr}=`)) return [];
  return ['userfilter configured does not consider userattr and may result in colliding entity aliases on logins'];
}
