import { redact } from './redact.ts';

/** The longest text of somebody else's code that is passed on, in characters: 4 KiB. */
export const LONGEST_FOREIGN_TEXT = 4_096;
/** So much of a text is looked at for secrets; what is longer is cut before, or masking it would hold up everybody. */
const LOOKED_AT = 65_536;

/** Values to mask in texts, by the label that takes their place. */
export type Secrets = Readonly<Record<string, string | undefined>>;

/** What anything thrown says of itself. Never throws itself, whatever was thrown. */
export function thrownText(error: unknown): string {
  try {
    const text: unknown = error instanceof Error ? error.message || error.name : error;
    return typeof text === 'string' ? text : String(text);
  } catch {
    return 'something that cannot be shown';
  }
}

/**
 * A text that a plugin, a driver or an outside system made, as it may be passed on: every value of `secrets` is masked as `redact` does, and what is
 * longer than 4 KiB is cut, with no part of a secret at the cut.
 */
export function foreignText(text: string, secrets: Secrets = {}): string {
  if (text.length <= LOOKED_AT) return cutText(redact(text, secrets));
  // The cut may have halved a secret, which is then not found: so much is left out at the end as the longest could be, however it is written.
  const longest = Math.max(0, ...Object.values(secrets).map((secret) => (secret?.length ?? 0) * 9));
  const masked = redact(text.slice(0, LOOKED_AT), secrets);
  const whole = masked.slice(0, Math.max(0, masked.length - longest));
  return whole.length > LONGEST_FOREIGN_TEXT ? cutText(whole) : `${whole}…`;
}

function cutText(text: string): string {
  if (text.length <= LONGEST_FOREIGN_TEXT) return text;
  const end = LONGEST_FOREIGN_TEXT - 1;
  // No half of a character that takes two.
  const half = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? 1 : 0;
  return `${text.slice(0, end - half)}…`;
}
