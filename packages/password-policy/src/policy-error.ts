/**
 * A password policy that cannot be used. `reasons` are the complaints, without any wrapping. `message` is the text
 * OpenBao gives: complaints about the rules are counted and listed (go-multierror), complaints about the text stand alone.
 */
export class PasswordPolicyError extends Error {
  override readonly name = 'PasswordPolicyError';
  readonly reasons: readonly string[];

  constructor(kind: 'text' | 'rules', reasons: readonly string[]) {
    super(kind === 'text' ? reasons.join('; ') : counted(reasons));
    this.reasons = reasons;
  }
}

/** A password could not be made from a policy, in the words of OpenBao. */
export class PasswordGenerationError extends Error {
  override readonly name = 'PasswordGenerationError';
}

function counted(reasons: readonly string[]): string {
  const count = reasons.length === 1 ? '1 error' : `${reasons.length} errors`;
  return `${count} occurred:${reasons.map((reason) => `\n\t* ${reason}`).join('')}\n\n`;
}
