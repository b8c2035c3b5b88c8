/** Bytes XOR a one-time password of the same length: encodes a token, and decodes it. */
export function oneTimePad(bytes: Uint8Array, otp: string): Buffer {
  const pad = Buffer.from(otp);
  return Buffer.from(bytes.map((byte, at) => byte ^ pad[at % pad.length]!));
}
