import { SnapshotFault } from './snapshot-fault.ts';

/** Bytes that are taken in other pieces than they come in. */
export class ByteSource {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** @throws SnapshotFault where there are fewer */
  async take(count: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.pieces(count)) parts.push(part);
    return Buffer.concat(parts, count);
  }

  /** As many bytes, as they come. @throws SnapshotFault where there are fewer */
  async *pieces(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0;) {
      const piece = this.#rest.length > 0 ? this.#rest : await this.#next();
      if (!piece) throw new SnapshotFault('failed to read snapshot: unexpected EOF');
      this.#rest = piece.subarray(left);
      const part = piece.subarray(0, left);
      left -= part.length;
      yield part;
    }
  }

  /** Reads what is left, which has to be nothing but zeros. @throws SnapshotFault */
  async end(): Promise<void> {
    for (let piece: Uint8Array | undefined = this.#rest; piece; piece = await this.#next()) {
      if (piece.some((byte) => byte !== 0)) throw new SnapshotFault('failed to read snapshot: something follows its end');
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    const next = (await this.#pieces.next()) as IteratorResult<Uint8Array, undefined>;
    return next.value;
  }
}
