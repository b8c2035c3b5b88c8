import type { KeyRing } from '../../kernel/barrier/key-ring.ts';
import { positionText, readPosition, type Position } from '../events/position.ts';

const NAME = 'position in the events';
/** Longer than any position of a sensible number of servers. */
const LONGEST = 8_192;
/** Positions have lengths of so many characters, so that the length does not tell the digits. */
const STEP = 32;

/** A position as callers get it. It counts the events of all mounts, which callers may not know, so it is encrypted. Any server of the store reads it. */
export function sealedPosition(ring: KeyRing, position: Position): string {
  const text = positionText(position);
  return ring.encrypt(NAME, Buffer.from(text.padEnd(Math.ceil(text.length / STEP) * STEP))).toString('base64url');
}

/** Undefined for what no server of the store has sent. */
export function openedPosition(ring: KeyRing, text: string): Position | undefined {
  if (text.length > LONGEST) return undefined;
  try {
    return readPosition(ring.decrypt(NAME, Buffer.from(text, 'base64url')).toString().trimEnd());
  } catch {
    return undefined;
  }
}
