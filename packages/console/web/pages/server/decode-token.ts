/** The token of an answer that was encoded with the one-time password of its attempt. */
export function decodeToken(encoded: string, otp: string): string {
  const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
  const key = new TextEncoder().encode(otp);
  return new TextDecoder().decode(bytes.map((byte, at) => byte ^ key[at % key.length]!));
}
