/** A security identifier of Active Directory in text form, `S-1-5-21-…`; undefined for bytes that are none. */
export function sidText(bytes: Buffer): string | undefined {
  const count = bytes[1];
  if (count === undefined || bytes.length !== 8 + 4 * count) return undefined;
  const parts = [bytes[0], bytes.readUIntBE(2, 6)];
  for (let index = 0; index < count; index += 1) parts.push(bytes.readUInt32LE(8 + 4 * index));
  return `S-${parts.join('-')}`;
}
