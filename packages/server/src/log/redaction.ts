/** Names of fields whose values are never written, wherever they stand. The log's users do not put secrets there; this is the second lock. */
const SECRET_NAMES =
  /(?:^|_|-|\b)(?:password|passwd|passphrase|secret|secret_id|secret_key|token|client_token|root_token|bindpass|private_key|client_tls_key|current_key|previous_key|unseal_key|credentials?|authorization|cookie|connection_url)s?$/i;
const CAMEL = /([a-z\d])([A-Z])/g;
const MAX_DEPTH = 6;
/** The longest text in a line of the log, in characters. What is longer is cut once it is masked. */
const LONGEST_TEXT = 16_384;
export const MASK = '[redacted]';

/** Tokens as this API makes them, wherever they stand in a text. */
const TOKENS = /\b(?:hvs|hvb|hvr|s|b|r)\.[A-Za-z0-9_-]{20,}/g;
/** The password part of a URL. It begins at the slashes, not at the scheme, so that the time is linear in the length of any text. */
const URL_PASSWORDS = /(:\/\/[^\s:/?#@]*:)[^\s/?#]*(?=@)/g;

/** Fields fit for a log: secrets masked, errors as their texts. */
export function redactFields(fields: Readonly<Record<string, unknown>>, depth = 0): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) out[name] = isSecretName(name) ? MASK : redactValue(value, depth);
  return out;
}

export function redactText(text: string): string {
  const masked = text.replace(TOKENS, MASK).replace(URL_PASSWORDS, `$1${MASK}`);
  return masked.length > LONGEST_TEXT ? `${masked.slice(0, LONGEST_TEXT - 1)}…` : masked;
}

export function isSecretName(name: string): boolean {
  return SECRET_NAMES.test(name.replace(CAMEL, '$1_$2'));
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'function' || typeof value === 'symbol' ? undefined : value;
  if (value instanceof Error) return redactText(value.message);
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (depth >= MAX_DEPTH) return '[…]';
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  return redactFields(value as Record<string, unknown>, depth + 1);
}
