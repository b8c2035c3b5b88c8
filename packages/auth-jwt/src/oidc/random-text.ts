const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Bytes from here on would make some letters more likely than others. */
const FAIR = 256 - (256 % LETTERS.length);

/** `length` letters and digits, each as likely as any other. */
export function randomText(length: number, randomBytes: (count: number) => Uint8Array): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) if (byte < FAIR && text.length < length) text += LETTERS[byte % LETTERS.length];
  }
  return text;
}
