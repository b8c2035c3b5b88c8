import { BadRequest } from '@strongroom/engine-sdk';

const PREFIX = 'vault:v';

/** `vault:v3:…`, the form of ciphertexts, signatures and HMACs. */
export function versionedText(version: number, body: string): string {
  return `${PREFIX}${version}:${body}`;
}

/** Reads the form. `what` is the noun in complaints. @throws BadRequest */
export function readVersionedText(
  text: string,
  what: 'ciphertext' | 'signature' | 'HMAC',
): { readonly version: number; readonly body: string } {
  if (!text.startsWith(PREFIX)) throw new BadRequest(what === 'HMAC' ? 'invalid HMAC to verify: no prefix' : `invalid ${what}: no prefix`);
  const end = text.indexOf(':', PREFIX.length);
  if (end < 0) throw new BadRequest(`invalid ${what}: wrong number of fields`);
  const digits = text.slice(PREFIX.length, end);
  if (!/^[0-9]{1,9}$/.test(digits)) throw new BadRequest(`invalid ${what}: version number could not be decoded`);
  // Version 0 was the first one long ago.
  return { version: Math.max(Number(digits), 1), body: text.slice(end + 1) };
}
