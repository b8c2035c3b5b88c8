import type { Change } from './driver.ts';
import { MAX_KEY_BYTES } from './driver.ts';
import { StorageFailure } from './errors.ts';

const UNSTORABLE = /[\0\ud800-\udfff]/u;

/** Why no store may hold this key, or undefined when every store can: it is empty, too long, holds U+0000 or half a surrogate pair. */
export function keyProblem(key: string): string | undefined {
  if (key.length === 0) return 'a key must not be empty';
  if (key.length * 3 > MAX_KEY_BYTES) {
    const bytes = Buffer.byteLength(key);
    if (bytes > MAX_KEY_BYTES) return `a key of ${bytes} bytes is longer than the ${MAX_KEY_BYTES} bytes a key may have`;
  }
  if (UNSTORABLE.test(key)) return 'a key must be well-formed Unicode without U+0000';
  return undefined;
}

/**
 * Checks every key that a change would write or expect.
 * @throws StorageFailure naming `store` for a key that no store may hold.
 */
export function checkKeys(store: string, change: Change): void {
  const check = (key: string): void => {
    const problem = keyProblem(key);
    if (problem !== undefined) throw new StorageFailure(store, problem);
  };
  if (change.expect) for (const { key } of change.expect) check(key);
  if (change.put) for (const { key } of change.put) check(key);
  if (change.delete) for (const key of change.delete) check(key);
  if (change.notify) for (const key of change.notify) check(key);
}
