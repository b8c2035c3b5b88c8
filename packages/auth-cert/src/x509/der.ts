/** One element of DER: where its contents are. */
export interface Element {
  readonly tag: number;
  /** Where the element begins, tag included. */
  readonly from: number;
  /** Where its contents begin. */
  readonly start: number;
  /** Behind its last byte. */
  readonly end: number;
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  explicit0: 0xa0,
} as const;

/** Walks over DER of any size without making objects of it: for revocation lists, which have up to millions of elements. */
export class DerWalker {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** The element that begins there and ends before `limit`. @throws RangeError for what is not DER */
  at(position: number, limit = this.bytes.length): Element {
    const { bytes } = this;
    const tag = bytes[position];
    const first = bytes[position + 1];
    if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new RangeError('not an element of DER');
    const count = first < 0x80 ? 0 : first & 0x7f;
    if (first === 0x80 || count > 4) throw new RangeError('not a length of DER');
    const start = position + 2 + count;
    const length = count === 0 ? first : start <= bytes.length ? bytes.readUIntBE(position + 2, count) : Infinity;
    if (start + length > limit) throw new RangeError('an element of DER is longer than what it is in');
    return { tag, from: position, start, end: start + length };
  }

  /** The elements inside another, in order. @throws RangeError */
  *inside({ start, end }: Element): Generator<Element> {
    for (let position = start; position < end;) {
      const element = this.at(position, end);
      yield element;
      position = element.end;
    }
  }

  /** The bytes of an element, tag included. */
  whole({ from, end }: Element): Buffer {
    return this.bytes.subarray(from, end);
  }

  contents({ start, end }: Element): Buffer {
    return this.bytes.subarray(start, end);
  }
}
