/** Text that is not Base64. The message says where. */
export class NotBase64 extends Error {
  override readonly name = 'NotBase64';
}

const NOTHING = Buffer.alloc(0);
const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes standard Base64 with its padding; line breaks are ignored. @throws NotBase64 */
export function fromBase64(text: string): Buffer {
  // Most requests leave out the context and the associated data.
  if (text === '') return NOTHING;
  // What is encoded to the same text again was Base64: that takes less time than looking at each character.
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text) return bytes;
  const line = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, '') : text;
  if (line.length % 4 !== 0 || !STANDARD.test(line)) throw new NotBase64(`illegal base64 data at input byte ${faultIn(line)}`);
  return Buffer.from(line, 'base64');
}

/** Decodes URL-safe Base64 without padding. @throws NotBase64 */
export function fromBase64Url(text: string): Buffer {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) throw new NotBase64('illegal base64 data');
  return Buffer.from(text, 'base64url');
}

/** The first character that does not belong, or the start of the last group where it is not complete. */
function faultIn(text: string): number {
  const strange = /[^A-Za-z0-9+/]/.exec(text);
  if (!strange) return text.length - (text.length % 4);
  if (strange[0] !== '=') return strange.index;
  const allowed = strange.index % 4 >= 2 && /^={1,2}$/.test(text.slice(strange.index));
  return allowed ? text.length : strange.index;
}
