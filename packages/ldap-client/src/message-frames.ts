/** Longer messages are taken for nonsense: what cannot be a length would make us wait, and collect, for ever. */
const LONGEST = 256 * 1024 * 1024;

/**
 * Cuts a stream into LDAP messages, each a BER sequence. ldapjs' own parser joins all that it has at every chunk, which takes seconds for a
 * big group, and goes one call deeper for every message in a chunk.
 */
export class MessageFrames {
  readonly #onMessage: (message: Buffer) => void;
  #chunks: Buffer[] = [];
  #have = 0;
  /** Bytes needed before it is worth looking again. */
  #need = 2;

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  /** Throws when the bytes are no LDAP. */
  push(chunk: Buffer): void {
    this.#have += chunk.length;
    if (this.#have < this.#need) {
      this.#chunks.push(chunk);
      return;
    }
    let rest = chunk;
    if (this.#chunks.length > 0) {
      rest = Buffer.concat([...this.#chunks, chunk]);
      this.#chunks = [];
    }
    let start = 0;
    for (;;) {
      const size = messageSize(rest, start);
      this.#need = size ?? rest.length - start + 1;
      if (size === undefined || start + size > rest.length) break;
      const end = start + size;
      const message = start === 0 && end === rest.length ? rest : rest.subarray(start, end);
      start = end;
      this.#onMessage(message);
    }
    this.#have = rest.length - start;
    if (this.#have > 0) this.#chunks.push(start === 0 ? rest : rest.subarray(start));
  }
}

/** Header and content of the sequence that starts there; undefined when the header is not all there. */
function messageSize(bytes: Buffer, start: number): number | undefined {
  const tag = bytes[start];
  if (tag === undefined) return undefined;
  if (tag !== 0x30) throw new Error(`a message begins with 0x${tag.toString(16)} instead of 0x30`);
  const first = bytes[start + 1];
  if (first === undefined) return undefined;
  if (first < 0x80) return 2 + first;
  const count = first & 0x7f;
  if (count === 0 || count > 4) throw new Error('a message has no definite length');
  if (bytes.length < start + 2 + count) return undefined;
  const length = bytes.readUIntBE(start + 2, count);
  if (length > LONGEST) throw new Error(`a message of ${length} bytes is too long`);
  return 2 + count + length;
}
