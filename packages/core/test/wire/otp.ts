import { createHmac } from 'node:crypto';

/** The code of an `otpauth://` URL at a time, as an authenticator makes it. `millis`: since the epoch. */
export function codeAt(url: string, millis: number): string {
  const { searchParams } = new URL(url);
  const digits = Number(searchParams.get('digits'));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(millis / 1_000 / Number(searchParams.get('period')))));
  const mac = createHmac(searchParams.get('algorithm')!, fromBase32(searchParams.get('secret')!))
    .update(counter)
    .digest();
  const number = mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fff_ffff;
  return String(number).slice(-digits).padStart(digits, '0');
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
}
