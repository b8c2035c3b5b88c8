import { InvalidRequest, type EngineHost } from '@strongroom/engine-sdk';
import { makePassword } from '@strongroom/ldap-client';
import { phraseLengths, type LdapSecretsConfig } from './config.ts';

/** A password for an account, by the policy of its role, or else by the configuration. @throws InvalidRequest where the policy is missing or does not fit */
export async function makeAccountPassword(host: EngineHost, config: LdapSecretsConfig, policy?: string): Promise<string> {
  const password = await makePassword(host, policy === undefined ? config : { password_policy: policy, length: 0 });
  const { least, most } = phraseLengths;
  if (config.credential_type !== 'phrase' || (password.length >= least && password.length <= most)) return password;
  const name = JSON.stringify(policy ?? config.password_policy);
  throw new InvalidRequest(`password_policy: ${name} gives ${password.length} characters; a phrase of RACF has ${least} to ${most}`);
}
