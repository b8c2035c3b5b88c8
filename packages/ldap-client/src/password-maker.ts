import { EngineError, InvalidRequest, type EngineHost } from '@strongroom/engine-sdk';
import { generatePassword, passwordPolicy, type PasswordPolicy } from '@strongroom/password-policy';

/** How a configuration has passwords made. */
export interface PasswordRules {
  /** Name of a password policy; '' for letters and digits. */
  readonly password_policy: string;
  /** Of letters and digits; 0 for the default of 64. */
  readonly length: number;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const defaultPolicy = lettersAndDigits(64);

/** A password by the configuration's policy, or of `length` letters and digits. @throws InvalidRequest for a policy that is not there. */
export async function makePassword(host: EngineHost, { password_policy, length }: PasswordRules): Promise<string> {
  if (password_policy === '') {
    return generatePassword(length === 0 ? defaultPolicy : lettersAndDigits(length), (count) => host.randomBytes(count));
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

/** The warning for a password policy that is not there yet: it must be when a password is first made. */
export async function unknownPolicy(
  host: EngineHost,
  { password_policy }: Pick<PasswordRules, 'password_policy'>,
): Promise<string | undefined> {
  if (password_policy === '') return undefined;
  try {
    await host.generatePassword(password_policy);
    return undefined;
  } catch (error) {
    if (!(error instanceof EngineError) || error.status >= 500) throw error;
    return `password_policy: no password can be made by ${JSON.stringify(password_policy)} now (${error.message}); it must work when a password is first made`;
  }
}

function lettersAndDigits(length: number): PasswordPolicy {
  return passwordPolicy(length, [{ charset: BASE62, minChars: 0 }]);
}
