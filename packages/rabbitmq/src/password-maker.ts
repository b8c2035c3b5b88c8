import { EngineError, InvalidRequest, type EngineHost } from '@strongroom/engine-sdk';
import { generatePassword, passwordPolicy } from '@strongroom/password-policy';

const lettersAndDigits = passwordPolicy(36, [{ charset: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', minChars: 0 }]);

/** A password by the named policy, or of 36 letters and digits for ''. @throws InvalidRequest for a policy that is not there */
export async function makePassword(host: EngineHost, policy: string): Promise<string> {
  if (policy === '') return generatePassword(lettersAndDigits, (count) => host.randomBytes(count));
  try {
    return await host.generatePassword(policy);
  } catch (error) {
    if (!(error instanceof EngineError) || error.status >= 500) throw error;
    throw new InvalidRequest(`unable to generate a password by password_policy ${JSON.stringify(policy)}: ${error.message}`);
  }
}
