/** Secrets of at least this length are masked everywhere, shorter ones only where they stand alone. */
const ANYWHERE_FROM = 8;
/** The size of regular expressions is limited, so longer secrets, such as keys, are searched for as plain text. */
const LONGEST_IN_PATTERN = 256;

/**
 * `text` with every value of `secrets` replaced by `[label]`: `redact('bad pw hunter2hunter2', { password: 'hunter2hunter2' })`. Values are
 * also found URL-escaped, JSON-escaped, with doubled quotes, and in base64. A value of fewer than 8 characters is masked only where no
 * letter or digit touches it, so that the password `p` leaves "dial tcp" readable. Empty values are ignored.
 */
export function redact(text: string, secrets: Readonly<Record<string, string | undefined>>): string {
  const labels = new Map<string, string>();
  for (const [label, secret] of Object.entries(secrets)) {
    if (secret) for (const form of formsOf(secret)) if (!labels.has(form)) labels.set(form, label);
  }
  if (labels.size === 0) return text;
  const forms = [...labels.keys()].filter((form) => text.includes(form)).sort((a, b) => b.length - a.length);
  let masked = text;
  for (const form of forms) if (form.length > LONGEST_IN_PATTERN) masked = masked.replaceAll(form, () => `[${labels.get(form)}]`);
  const rest = forms.filter((form) => form.length <= LONGEST_IN_PATTERN);
  if (rest.length === 0) return masked;
  return masked.replace(new RegExp(rest.map(pattern).join('|'), 'gu'), (found) => `[${labels.get(found)}]`);
}

function formsOf(secret: string): string[] {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), secret.replaceAll("'", "''"), secret.replaceAll('\\', '\\\\')];
  // A lone surrogate cannot be percent-encoded, so it cannot have been.
  if (!/\p{Surrogate}/u.test(secret)) forms.push(encodeURIComponent(secret), encodeURI(secret));
  if (secret.length >= ANYWHERE_FROM) forms.push(Buffer.from(secret).toString('base64'));
  return forms;
}

function pattern(form: string): string {
  const escaped = form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  if (form.length >= ANYWHERE_FROM) return escaped;
  const before = /^[\p{L}\p{N}]/u.test(form) ? '(?<![\\p{L}\\p{N}])' : '';
  const after = /[\p{L}\p{N}]$/u.test(form) ? '(?![\\p{L}\\p{N}])' : '';
  return `${before}${escaped}${after}`;
}
