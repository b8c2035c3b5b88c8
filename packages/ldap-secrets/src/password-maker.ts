import { EngineError, generatePassword, InvalidRequest, passwordPolicy, type EngineHost } from '@strongroom/engine-sdk';
import type { LdapSecretsConfig } from './config.ts';

const DEFAULT_LENGTH = 64;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A password by the configuration's policy, or of so many letters and digits. @throws InvalidRequest for a policy that is not there. */
export async function makePassword(host: EngineHost, { password_policy, length }: LdapSecretsConfig): Promise<string> {
  if (password_policy === '') {
    const policy = passwordPolicy(length || DEFAULT_LENGTH, [{ charset: BASE62, minChars: 0 }]);
    return generatePassword(policy, (count) => host.randomBytes(count));
  }
  try {
    return await host.generatePassword(password_policy);
  } catch (error) {
    if (error instanceof EngineError && error.status < 500) {
      throw new InvalidRequest(`unable to generate a password by password_policy ${JSON.stringify(password_policy)}: ${error.message}`);
    }
    throw error;
  }
}
