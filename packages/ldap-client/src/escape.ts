const filterSpecials: Readonly<Record<string, string>> = { '\\': '\\5c', '*': '\\2a', '(': '\\28', ')': '\\29', '\0': '\\00' };

/** Makes a value safe inside an RFC 4515 filter. Bytes are written as they are when they are plain, as `\xx` otherwise. */
export function escapeFilterValue(value: string | Buffer): string {
  if (typeof value === 'string') return value.replace(/[\\*()\0]/g, (char) => filterSpecials[char]!);
  let text = '';
  for (const byte of value) {
    const char = String.fromCharCode(byte);
    text += byte < 0x20 || byte > 0x7e || char in filterSpecials ? `\\${hex(byte)}` : char;
  }
  return text;
}

/**
 * Makes a value safe inside an RFC 4514 DN: a leading or trailing space and every one of `"#+,;<>\` get a backslash, characters that do
 * not print become `\xx` for each of their UTF-8 bytes, `=` stays as it is.
 */
export function escapeDnValue(value: string): string {
  if (!/^ | $|["#+,;<>\\]|[\p{C}\p{Zl}\p{Zp}]/u.test(value)) return value;
  return value
    .replace(/["#+,;<>\\]/g, '\\$&')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => [...Buffer.from(char)].map((byte) => `\\${hex(byte)}`).join(''))
    .replace(/^ /, '\\ ')
    .replace(/ $/, (space, offset: number, whole: string) => (offset === 1 && whole[0] === '\\' ? space : '\\ '));
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
