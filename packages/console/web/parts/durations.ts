const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Seconds as people read them, in at most two units: `2 h 5 min`. */
export function duration(seconds: number): string {
  let left = Math.max(0, Math.round(seconds));
  if (left === 0) return '0 s';
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** A distance from now in milliseconds: `in 4 min`, `2 h 5 min ago`, `now`. */
export function distance(milliseconds: number): string {
  const seconds = Math.round(Math.abs(milliseconds) / 1000);
  if (seconds < 2) return 'now';
  return milliseconds > 0 ? `in ${duration(seconds)}` : `${duration(seconds)} ago`;
}

/** How long something took, from milliseconds: `31 ms`, `4.2 s`. */
export function took(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : duration(milliseconds / 1000);
}
