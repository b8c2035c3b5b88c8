/** The hashes by the names that callers use, with those that Node has for them, their size and the start of their DigestInfo (RFC 8017, section 9.2). */
const HASHES = new Map<string, Hash>(
  [
    ['sha1', 'sha1', 20, '3021300906052b0e03021a05000414'],
    ['sha2-224', 'sha224', 28, '302d300d06096086480165030402040500041c'],
    ['sha2-256', 'sha256', 32, '3031300d060960864801650304020105000420'],
    ['sha2-384', 'sha384', 48, '3041300d060960864801650304020205000430'],
    ['sha2-512', 'sha512', 64, '3051300d060960864801650304020305000440'],
    ['sha3-224', 'sha3-224', 28, '302d300d06096086480165030402070500041c'],
    ['sha3-256', 'sha3-256', 32, '3031300d060960864801650304020805000420'],
    ['sha3-384', 'sha3-384', 48, '3041300d060960864801650304020905000430'],
    ['sha3-512', 'sha3-512', 64, '3051300d060960864801650304020a05000440'],
  ].map(([name, node, size, prefix]) => [
    name as string,
    { name: name as string, node: node as string, size: size as number, digestInfo: Buffer.from(prefix as string, 'hex') },
  ]),
);

export interface Hash {
  readonly name: string;
  /** Its name in `node:crypto`. */
  readonly node: string;
  readonly size: number;
  readonly digestInfo: Buffer;
}

/** Undefined for a hash that there is not. */
export function hashOf(name: string): Hash | undefined {
  return HASHES.get(name);
}
