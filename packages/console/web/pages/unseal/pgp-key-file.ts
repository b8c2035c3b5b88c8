/** A public key as the API takes it: the text of an armored file, or base64 of a binary one. */
export async function readPgpKeyFile(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  // The first byte of every packet of OpenPGP has its highest bit set; armor and base64 are plain text.
  if ((bytes[0] ?? 0) < 0x80) return new TextDecoder().decode(bytes).trim();
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
