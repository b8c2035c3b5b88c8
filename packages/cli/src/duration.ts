const SECONDS: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400 };

/** Reads `3600`, `1h30m`, `1.5h`, `30d` as seconds; undefined when it is none of these. Negative durations are allowed. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  if (/^[+-]?\d+$/.test(trimmed)) return Number(trimmed);
  const match = /^([+-]?)((?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+)$/.exec(trimmed);
  if (match === null) return undefined;
  let total = 0;
  for (const [, amount, unit] of (match[2] ?? '').matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g)) {
    total += Number(amount) * (SECONDS[unit ?? ''] ?? 0);
  }
  return match[1] === '-' ? -total : total;
}

/** Seconds as users of Go tools know them, without zero parts: 2764800 is `768h`, 5400 is `1h30m`, 0 is `0s`. */
export function formatDuration(seconds: number): string {
  if (seconds === 0) return '0s';
  const sign = seconds < 0 ? '-' : '';
  const total = Math.abs(seconds);
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const rest = total % 60;
  return sign + (hours > 0 ? `${hours}h` : '') + (minutes > 0 ? `${minutes}m` : '') + (rest > 0 ? `${rest}s` : '');
}
