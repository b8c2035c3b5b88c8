import { BadRequest } from '@strongroom/engine-sdk';
import { X509Certificate, type KeyObject } from 'node:crypto';
import type { KeyType } from './key-types.ts';

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;
const MOST = 16;

/** The certificates of a PEM, that of the key first, each in Base64 of its DER. @throws BadRequest unless the first is for the key, and the last for an authority */
export function certificatesFor(type: KeyType, key: KeyObject, text: string): string[] {
  if (text !== '' && !text.includes('-----BEGIN ')) throw new BadRequest('could not decode a PEM block in the certificate chain');
  const blocks = text.match(BLOCK) ?? [];
  if (blocks.length === 0) throw new BadRequest('provided certificate chain did not contain any valid PEM encoded certificate');
  if (blocks.length > MOST) throw new BadRequest(`certificate_chain has ${blocks.length} certificates; at most ${MOST} are allowed`);
  const certificates = blocks.map((block) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new BadRequest('certificate_chain has a block that is no certificate');
    }
  });
  const [leaf] = certificates as [X509Certificate];
  if (leaf.ca) throw new BadRequest('certificate in the first element is not a valid leaf certificate');
  if (certificates.length > 1 && !certificates.at(-1)!.ca)
    throw new BadRequest('certificate in the last element is not a valid CA certificate');
  if (leaf.publicKey.asymmetricKeyType !== key.asymmetricKeyType)
    throw new BadRequest(
      `provided leaf certificate public key algorithm '${leaf.publicKey.asymmetricKeyType}' does not match the transit key type '${type.name}'`,
    );
  if (!leaf.publicKey.equals(key)) throw new BadRequest('leaf certificate public key does not match the selected key version');
  return certificates.map(({ raw }) => raw.toString('base64'));
}
