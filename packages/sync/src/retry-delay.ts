/** Before the next try, in milliseconds: doubling from 10 s, at most an hour, a quarter more or less so that crowds spread. */
export function retryDelay(attempts: number, random: () => number): number {
  const full = Math.min(3_600_000, 10_000 * 2 ** Math.min(attempts - 1, 20));
  return Math.round(full * (0.75 + random() * 0.5));
}
