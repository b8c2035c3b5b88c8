import { deserialize, serialize } from 'node:v8';

const HEAD = 4;
/** Bytes of a frame, at most. */
const LONGEST = 2 ** 26;

/** A value as it goes over a stream: four bytes with its length, and what `v8.serialize` makes of it. */
export function framed(value: unknown): Buffer {
  const body = serialize(value);
  const frame = Buffer.allocUnsafe(HEAD + body.length);
  frame.writeUInt32LE(body.length, 0);
  frame.set(body, HEAD);
  return frame;
}

/** Puts the pieces of a stream together. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #length = 0;
  /** Bytes that the next frame needs. */
  #needed = HEAD;

  /** The values that are complete with this piece. Binary values may share its memory. @throws Error for what `framed` has not made */
  read(piece: Buffer): unknown[] {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length < this.#needed) return [];
    let rest = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    const values: unknown[] = [];
    for (;;) {
      this.#needed = rest.length < HEAD ? HEAD : HEAD + rest.readUInt32LE(0);
      if (this.#needed > LONGEST) throw new Error('the frame is too long');
      if (rest.length < this.#needed) break;
      values.push(deserialize(rest.subarray(HEAD, this.#needed)));
      rest = rest.subarray(this.#needed);
    }
    this.#pieces = rest.length > 0 ? [rest] : [];
    this.#length = rest.length;
    return values;
  }
}
