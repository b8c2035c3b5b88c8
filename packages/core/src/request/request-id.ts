import { randomUUID } from 'node:crypto';

/** The id that ties an answer to its audit lines. */
export function newRequestId(): string {
  return randomUUID();
}
