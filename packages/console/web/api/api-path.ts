/**
 * A path below `/v1/`, from parts as people write them: each part may hold slashes (a mount `team/kv`, a secret `shop/database`), everything else is encoded.
 * @throws Error for a part `.` or `..`, which no browser can send
 */
export function apiPath(...parts: readonly string[]): string {
  const segments = parts.flatMap((part) => part.split('/')).filter((segment, at, all) => segment !== '' || at === all.length - 1);
  for (const segment of segments) {
    if (segment === '.' || segment === '..') throw new Error(`a name cannot be “${segment}”: browsers drop it from addresses`);
  }
  return segments.map(encodeURIComponent).join('/');
}
