const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648, without padding, which authenticators do not expect. */
export function base32Of(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >> bits) & 31]!;
    }
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET[(held << (5 - bits)) & 31]! : text;
}

/** The bytes of base32 in either case, with or without padding. A number is the place of the first character that cannot be there. */
export function bytesOfBase32(text: string): Buffer | number {
  const digits = text.toUpperCase().replace(/=+$/, '');
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const [place, digit] of [...digits].entries()) {
    const value = ALPHABET.indexOf(digit);
    if (value < 0) return place;
    held = (held << 5) | value;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(held >> bits);
    held &= (1 << bits) - 1;
  }
  // Five bits or more that fill no byte: a character is missing.
  return bits >= 5 ? digits.length : Buffer.from(bytes);
}
