import { BadRequest } from '@strongroom/engine-sdk';
import { createMessage, encrypt, readKeys, type Key } from 'openpgp';

/** Larger keys are refused: most of one is what others have signed, and anybody may ask the server to read it. Bytes. */
const LARGEST = 65_536;

/** The public key of an operator, found fit to encrypt to. */
export interface PublicKey {
  /** Of the primary key: 40 hex digits, lower case (64 for a version 6 key). */
  readonly fingerprint: string;
  /** An OpenPGP message for that key, in its binary form. */
  encrypt(plain: Uint8Array): Promise<Uint8Array>;
}

/**
 * Reads one public key, binary or armored, and tries it: what it returns can be encrypted to. `now` decides whether the key has expired; a key that was made
 * later, by another clock, counts as new. @throws BadRequest that says what is wrong with the key
 */
export async function readPublicKey(bytes: Uint8Array, now: Date): Promise<PublicKey> {
  if (bytes.length > LARGEST) {
    throw new BadRequest(
      `it has ${bytes.length} bytes, more than ${LARGEST}: export it with "gpg --export-options export-minimal --export"`,
    );
  }
  const key = await onlyKey(bytes);
  if (key.isPrivate()) throw new BadRequest('it is a private key: send the public key alone, and replace this one');
  const date = new Date(Math.max(now.getTime(), ...signedAt(key)));
  const encryptTo = async (plain: Uint8Array): Promise<Uint8Array> =>
    encrypt({ message: await createMessage({ binary: plain }), encryptionKeys: key, format: 'binary', date }) as Promise<Uint8Array>;
  try {
    await encryptTo(new Uint8Array(1));
  } catch (error) {
    throw new BadRequest(`it cannot be encrypted to: ${(error as Error).message}`);
  }
  return { fingerprint: key.getFingerprint(), encrypt: encryptTo };
}

async function onlyKey(bytes: Uint8Array): Promise<Key> {
  const text = Buffer.from(bytes.subarray(0, 64)).toString('latin1').trimStart();
  const armored = text.startsWith('-----BEGIN PGP');
  // As Vault and OpenBao say it: every packet begins with a set bit.
  if (!armored && ((bytes[0] ?? 0) & 0x80) === 0) throw new BadRequest('openpgp: invalid data: tag byte does not have MSB set');
  const reading = armored ? readKeys({ armoredKeys: Buffer.from(bytes).toString('utf8') }) : readKeys({ binaryKeys: bytes });
  const keys = await reading.catch((error: unknown) => {
    throw new BadRequest(`it is no OpenPGP key: ${(error as Error).message}`);
  });
  const [key] = keys;
  if (!key) throw new BadRequest('it holds no key');
  if (keys.length > 1) throw new BadRequest(`it holds ${keys.length} keys: send one`);
  return key;
}

/** When the key, its subkeys and the signatures that bind them were made; milliseconds. */
function signedAt(key: Key): number[] {
  const dates = [
    key.keyPacket.created,
    ...key.users.flatMap(({ selfCertifications }) => selfCertifications.map(({ created }) => created)),
    ...key.subkeys.flatMap(({ keyPacket, bindingSignatures }) => [keyPacket.created, ...bindingSignatures.map(({ created }) => created)]),
  ];
  return dates.flatMap((date) => (date ? [date.getTime()] : []));
}
