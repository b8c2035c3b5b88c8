import { PasswordPolicyError } from './policy-error.ts';

/** At least `minChars` characters of the password are from `charset`. A character may count for several rules. */
export interface PasswordRule {
  readonly charset: string;
  readonly minChars: number;
}

/** A checked policy. Made by `parsePasswordPolicy` or `passwordPolicy` only. */
export interface PasswordPolicy {
  /** Characters (not UTF-16 units) of a password. */
  readonly length: number;
  readonly rules: readonly PasswordRule[];
  /** Every character of every rule once, in order of code points. */
  readonly alphabet: readonly string[];
}

/** What a charset may hold: letters, marks, digits, punctuation, symbols and the plain space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Checks and completes a policy. Throws `PasswordPolicyError` with all complaints at once. */
export function passwordPolicy(length: number, rules: readonly PasswordRule[]): PasswordPolicy {
  const alphabet = [...new Set(rules.flatMap((rule) => [...rule.charset]))].sort((a, b) => codePoint(a) - codePoint(b));
  const needed = rules.reduce((sum, rule) => sum + rule.minChars, 0);
  const reasons: string[] = [];
  if (!(length > 0)) reasons.push('length must be > 0');
  else if (length < needed) reasons.push(`specified rules require at least ${needed} characters but ${length} is specified`);
  if (alphabet.length === 0) reasons.push('no charset specified');
  else if (!alphabet.every((char) => PRINTABLE.test(char))) reasons.push('non-printable character in charset');
  if (reasons.length > 0) throw new PasswordPolicyError('rules', reasons);
  return Object.freeze({
    length,
    rules: Object.freeze(rules.map((rule) => Object.freeze({ ...rule }))),
    alphabet: Object.freeze(alphabet),
  });
}

/** Whether no password can ever meet the policy: a rule asks for characters of an empty charset. */
export function isUnsatisfiable(policy: PasswordPolicy): boolean {
  return policy.rules.some((rule) => rule.minChars > 0 && rule.charset === '');
}

/** What engines use when no policy is named: 20 letters, digits and dashes, at least one of each kind. */
export const defaultPasswordPolicy: PasswordPolicy = passwordPolicy(20, [
  { charset: 'abcdefghijklmnopqrstuvwxyz', minChars: 1 },
  { charset: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', minChars: 1 },
  { charset: '0123456789', minChars: 1 },
  { charset: '-', minChars: 1 },
]);

function codePoint(char: string): number {
  return char.codePointAt(0) ?? 0;
}
