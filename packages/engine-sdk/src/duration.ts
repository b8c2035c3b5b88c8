/**
 * Durations as Vault writes them: Go's (`1h30m`, `250ms`), plus bare integers (seconds) and whole days (`7d`).
 * Inside the program a duration is a number of seconds.
 */

/** A text that is no duration. The message is the one Go gives for the same text. */
export class DurationError extends Error {
  override readonly name = 'DurationError';
}

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
/** The longest duration, about 292 years: what fits into Go's 64-bit count of nanoseconds. */
const LONGEST = (1n << 63n) - 1n;
/** No duration worth reading is longer; also keeps the digits of one handled in linear time. */
const LONGEST_TEXT = 128;

/**
 * Seconds of a duration: `3600`, `"3600"`, `"1h30m"`, `"1.5h"`, `"250ms"` (0.25), `"7d"`, `""` (0); all may be negative.
 * Days take whole numbers and do not mix with other units. A number must be whole.
 * Throws `DurationError`.
 */
export function parseDuration(input: string | number): number {
  const text = String(input);
  if (text === '') return 0;
  if (text.length > LONGEST_TEXT) throw new DurationError('time: invalid duration: text too long');
  if (/^[+-]?\d+$/.test(text)) return toSeconds(BigInt(withoutPlus(text)) * SECOND, text);
  if (text.endsWith('d')) {
    const days = text.slice(0, -1);
    if (!/^[+-]?\d+$/.test(days)) throw new DurationError(`strconv.ParseInt: parsing ${quoted(days)}: invalid syntax`);
    return toSeconds(BigInt(withoutPlus(days)) * DAY, text);
  }
  return toSeconds(nanoseconds(text), text);
}

/** A duration as Go prints it: `1h0m0s`, `24h0m0s`, `1m30s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) throw new RangeError('a duration must be a finite number of seconds');
  const whole = Math.trunc(seconds);
  const total = BigInt(whole) * SECOND + BigInt(Math.round((seconds - whole) * 1e9));
  const sign = total < 0n ? '-' : '';
  const nanos = total < 0n ? -total : total;
  if (nanos === 0n) return '0s';
  if (nanos < 1_000n) return `${sign}${nanos}ns`;
  if (nanos < 1_000_000n) return `${sign}${decimal(nanos, 3)}\u00b5s`;
  if (nanos < SECOND) return `${sign}${decimal(nanos, 6)}ms`;
  const minutes = nanos / (60n * SECOND);
  const rest = `${decimal(nanos % (60n * SECOND), 9)}s`;
  if (minutes === 0n) return sign + rest;
  if (minutes < 60n) return `${sign}${minutes}m${rest}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${rest}`;
}

function nanoseconds(text: string): bigint {
  const invalid = (): DurationError => new DurationError(`time: invalid duration ${quoted(text)}`);
  const signed = /^[+-]/.test(text);
  const negative = text.startsWith('-');
  if (text.length === (signed ? 1 : 0)) throw invalid();
  const part = /(\d*)(?:(\.)(\d*))?([^.\d]*)/uy;
  part.lastIndex = signed ? 1 : 0;
  let total = 0n;
  while (part.lastIndex < text.length) {
    const [, whole = '', point, fraction = '', unit = ''] = part.exec(text) ?? [];
    if (whole === '' && fraction === '') throw invalid();
    if (unit === '') throw new DurationError(`time: missing unit in duration ${quoted(text)}`);
    const scale = Object.hasOwn(NANOSECONDS, unit) ? NANOSECONDS[unit] : undefined;
    if (scale === undefined) throw new DurationError(`time: unknown unit ${quoted(unit)} in duration ${quoted(text)}`);
    total += BigInt(whole || '0') * scale;
    if (point !== undefined && fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  return negative ? -total : total;
}

function toSeconds(nanos: bigint, text: string): number {
  if (nanos > LONGEST || nanos < -LONGEST - 1n) throw new DurationError(`time: invalid duration ${quoted(text)}`);
  const whole = nanos / SECOND;
  return Number(whole) + Number(nanos - whole * SECOND) / 1e9;
}

/** `nanos` as a decimal fraction with `places` digits behind the point, trailing zeros dropped. */
function decimal(nanos: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = (nanos % scale).toString().padStart(places, '0').replace(/0+$/, '');
  return fraction === '' ? `${nanos / scale}` : `${nanos / scale}.${fraction}`;
}

function withoutPlus(text: string): string {
  return text.startsWith('+') ? text.slice(1) : text;
}

/** The quoting of Go's time package: quotes and backslashes escaped, every byte outside printable ASCII as `\xNN`. */
function quoted(text: string): string {
  let out = '"';
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte);
    if (char === '"' || char === '\\') out += `\\${char}`;
    else if (byte < 0x20 || byte >= 0x80) out += `\\x${byte.toString(16).padStart(2, '0')}`;
    else out += char;
  }
  return `${out}"`;
}
