/** Tags of ASN.1 whose contents are text, and how it is encoded. */
const ENCODINGS: Readonly<Record<number, 'utf8' | 'latin1' | 'utf16be'>> = {
  0x0c: 'utf8',
  0x12: 'latin1',
  0x13: 'latin1',
  0x14: 'latin1',
  0x16: 'latin1',
  0x1a: 'latin1',
  0x1e: 'utf16be',
};

/** The text in the value of an extension, if it is a string of ASN.1; undefined otherwise. */
export function textValue(der: Uint8Array): string | undefined {
  const bytes = Buffer.from(der);
  const encoding = ENCODINGS[bytes[0] ?? -1];
  const length = bytes[1] ?? 0;
  const start = length < 0x80 ? 2 : 2 + (length & 0x7f);
  const size =
    length < 0x80 ? length : length === 0x80 || length > 0x84 ? -1 : bytes.length >= start ? bytes.readUIntBE(2, length & 0x7f) : -1;
  if (encoding === undefined || size !== bytes.length - start) return undefined;
  const contents = bytes.subarray(start);
  if (encoding !== 'utf16be') return contents.toString(encoding);
  return contents.length % 2 === 0 ? Buffer.from(contents).swap16().toString('utf16le') : undefined;
}
