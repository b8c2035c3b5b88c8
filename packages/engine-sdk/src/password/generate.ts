import type { PasswordPolicy } from './policy.ts';
import { isUnsatisfiable } from './policy.ts';
import { PasswordGenerationError } from './policy-error.ts';

/** Milliseconds after which a policy whose rules are hardly ever met is given up. */
const DEADLINE = 1_000;
/** One random byte picks one character. */
const LARGEST_ALPHABET = 256;

/**
 * A password of the policy, every one equally likely: characters are drawn uniformly from the alphabet, and the whole is
 * drawn again until all rules are met. `randomBytes` is the system's source, e.g. that of node:crypto; `clock` gives
 * milliseconds. Throws `PasswordGenerationError` after a second, and at once when the rules cannot be met.
 */
export function generatePassword(
  policy: PasswordPolicy,
  randomBytes: (count: number) => Uint8Array,
  clock: () => number = () => performance.now(),
): string {
  const { alphabet, length } = policy;
  if (alphabet.length > LARGEST_ALPHABET) {
    throw new PasswordGenerationError('unable to generate random characters: charset is too long: limited to 255 characters');
  }
  if (isUnsatisfiable(policy)) throw new PasswordGenerationError('timed out generating string');
  const wanted = policy.rules.filter((rule) => rule.minChars > 0).map((rule) => ({ set: new Set(rule.charset), least: rule.minChars }));
  const deadline = clock() + DEADLINE;
  do {
    const candidate = pick(alphabet, length, randomBytes);
    if (wanted.every(({ set, least }) => candidate.reduce((count, char) => count + (set.has(char) ? 1 : 0), 0) >= least))
      return candidate.join('');
  } while (clock() < deadline);
  throw new PasswordGenerationError('timed out generating string');
}

function pick(alphabet: readonly string[], length: number, randomBytes: (count: number) => Uint8Array): string[] {
  const limit = LARGEST_ALPHABET - (LARGEST_ALPHABET % alphabet.length);
  const picked: string[] = [];
  while (picked.length < length) {
    for (const byte of randomBytes(Math.ceil((length - picked.length) * 1.25) + 4)) {
      const char = byte < limit ? alphabet[byte % alphabet.length] : undefined;
      if (char !== undefined && picked.length < length) picked.push(char);
    }
  }
  return picked;
}
