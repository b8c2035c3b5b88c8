/** Delay before the next try, in milliseconds: doubling from 10 s, at most 5 minutes, with up to half of it random, so that crowds spread. */
export function retryDelay(attempts: number, random: () => number, base = 10_000, most = 300_000): number {
  const full = Math.min(most, base * 2 ** Math.min(Math.max(attempts - 1, 0), 20));
  return Math.round(full * (0.75 + random() * 0.5));
}

/** What is kept of a failure: the text alone, cut so that a record stays small. */
export function failureText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
