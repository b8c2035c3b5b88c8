/** When a password was last rotated, as answers show it; Go's zero time for never. `millis` since the epoch, 0 for never. */
export function lastRotation(millis: number): string {
  return millis === 0 ? '0001-01-01T00:00:00Z' : new Date(millis).toISOString();
}
