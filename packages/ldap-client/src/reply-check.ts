import { elementAt, headOf } from './message-controls.ts';

const integer = 0x02;
const enumerated = 0x0a;
/** Of numbers up to 2^31 - 1, as RFC 4511 has them (section 4.1.1). */
const MAX_BYTES = 4;

/** The operation of the response that ends each operation of a request (RFC 4511, section 4). */
const endOf: Readonly<Record<number, number>> = {
  0x60: 0x61,
  0x63: 0x65,
  0x66: 0x67,
  0x68: 0x69,
  0x4a: 0x6b,
  0x6c: 0x6d,
  0x77: 0x78,
};
/** With that of a comparison, which is never asked for here. */
const ends: ReadonlySet<number> = new Set([...Object.values(endOf), 0x6f]);

/** The tag of the response that ends a request. */
export function endTagOf(request: Buffer): number | undefined {
  return endOf[headOf(request).operation.tag];
}

/**
 * Refuses what ldapjs takes for a result: that of another operation, an empty result code, and numbers too long for it, of which it reads the last four bytes.
 * `endTag` is that of the request with a message id, undefined where there is none. @throws Error for such a message, and for bytes that are no message
 */
export function checkReply(message: Buffer, endTag: (id: number) => number | undefined): void {
  const { id, operation } = headOf(message);
  const length = id.end - id.start;
  if (id.tag !== integer || length < 1 || length > MAX_BYTES) throw new Error('a message has no valid id');
  if (!ends.has(operation.tag)) return;
  const expected = endTag(message.readIntBE(id.start, length));
  if (expected === undefined) return;
  if (operation.tag !== expected) throw new Error('the server answered a request with the result of another operation');
  const code = elementAt(message, operation.start, operation.end);
  if (code.tag !== enumerated || code.end === code.start || code.end - code.start > MAX_BYTES)
    throw new Error('a result has no valid result code');
}
