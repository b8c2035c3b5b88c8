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
  const draw = drawingOf(policy);
  const deadline = clock() + DEADLINE;
  do {
    const candidate = pick(draw, length, randomBytes);
    if (candidate) return candidate;
  } while (clock() < deadline);
  throw new PasswordGenerationError('timed out generating string');
}

/** What drawing by a policy needs to know, worked out once. */
interface Drawing {
  readonly alphabet: readonly string[];
  /** Bytes from here on would favour some characters. */
  readonly limit: number;
  /** Of each character, the rules that it counts for. */
  readonly counts: readonly (readonly number[])[];
  readonly least: readonly number[];
}

const drawings = new WeakMap<PasswordPolicy, Drawing>();

function drawingOf(policy: PasswordPolicy): Drawing {
  const known = drawings.get(policy);
  if (known) return known;
  const { alphabet } = policy;
  const wanted = policy.rules.filter((rule) => rule.minChars > 0).map((rule) => ({ set: new Set(rule.charset), least: rule.minChars }));
  const drawing: Drawing = {
    alphabet,
    limit: LARGEST_ALPHABET - (LARGEST_ALPHABET % alphabet.length),
    counts: alphabet.map((char) => wanted.flatMap(({ set }, rule) => (set.has(char) ? [rule] : []))),
    least: wanted.map(({ least }) => least),
  };
  drawings.set(policy, drawing);
  return drawing;
}

/** One candidate, if it meets the rules. */
function pick({ alphabet, limit, counts, least }: Drawing, length: number, randomBytes: (count: number) => Uint8Array): string | undefined {
  const missing = [...least];
  let text = '';
  let picked = 0;
  while (picked < length) {
    for (const byte of randomBytes(Math.ceil((length - picked) * 1.25) + 4)) {
      if (byte >= limit || picked === length) continue;
      const index = byte % alphabet.length;
      text += alphabet[index]!;
      picked += 1;
      for (const rule of counts[index]!) missing[rule]! -= 1;
    }
  }
  return missing.every((left) => left <= 0) ? text : undefined;
}
