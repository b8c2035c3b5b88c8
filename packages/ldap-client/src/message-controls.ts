/** The values of the controls that came with a message, by their OIDs; empty for a control without one. */
export type Controls = ReadonlyMap<string, Buffer>;

/** Where an element of BER is. */
export interface Element {
  readonly tag: number;
  /** Where the content begins and ends. */
  readonly start: number;
  readonly end: number;
}

const none: Controls = new Map();
const sequence = 0x30;
const controlsTag = 0xa0;
const octets = 0x04;

/** Where the id and the operation of a message are. Throws when the bytes are no LDAP message. */
export function headOf(message: Buffer): { readonly outer: Element; readonly id: Element; readonly operation: Element } {
  const outer = elementAt(message, 0, message.length);
  const id = elementAt(message, outer.start, outer.end);
  return { outer, id, operation: elementAt(message, id.end, outer.end) };
}

/**
 * Takes the controls off a message. ldapjs reads every one that a server sends, asked for or not, and gives the connection up for one that it does
 * not know how to read. Throws when the bytes are no LDAP message.
 */
export function splitControls(message: Buffer): { readonly message: Buffer; readonly controls: Controls } {
  const { outer, operation } = headOf(message);
  if (operation.end === outer.end) return { message, controls: none };
  const header = Buffer.from([sequence, 0x84, 0, 0, 0, 0]);
  header.writeUInt32BE(operation.end - outer.start, 2);
  return {
    message: Buffer.concat([header, message.subarray(outer.start, operation.end)]),
    controls: readControls(message, elementAt(message, operation.end, outer.end)),
  };
}

/** The cookie in the value of a paged results control (RFC 2696). Throws when there is none in it. */
export function pageCookie(value: Buffer): Buffer {
  const outer = elementAt(value, 0, value.length);
  const size = elementAt(value, outer.start, outer.end);
  const cookie = elementAt(value, size.end, outer.end);
  return value.subarray(cookie.start, cookie.end);
}

function readControls(bytes: Buffer, list: Element): Controls {
  const controls = new Map<string, Buffer>();
  if (list.tag !== controlsTag) return controls;
  for (let at = list.start; at < list.end;) {
    const control = elementAt(bytes, at, list.end);
    at = control.end;
    const name = elementAt(bytes, control.start, control.end);
    let value: Element | undefined;
    for (let next = name.end; next < control.end; next = value.end) value = elementAt(bytes, next, control.end);
    const content = value?.tag === octets ? bytes.subarray(value.start, value.end) : Buffer.alloc(0);
    controls.set(bytes.toString('latin1', name.start, name.end), content);
  }
  return controls;
}

/** The element of BER at a place. Throws when it does not end before the limit. */
export function elementAt(bytes: Buffer, at: number, limit: number): Element {
  const tag = bytes[at];
  const first = bytes[at + 1];
  const count = first === undefined || first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + count;
  if (tag === undefined || first === undefined || first === 0x80 || count > 4 || start > limit) throw new Error('a message is cut short');
  const end = start + (count === 0 ? first : bytes.readUIntBE(at + 2, count));
  if (end > limit) throw new Error('a message is cut short');
  return { tag, start, end };
}
