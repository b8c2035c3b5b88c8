import { CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import { AlgorithmIdentifier, Name, SubjectPublicKeyInfo } from '@peculiar/asn1-x509';
import { sign } from 'node:crypto';
import { promisify } from 'node:util';
import { BadRequest } from '@strongroom/engine-sdk';
import type { KeyType } from './key-types.ts';
import type { Material } from './material.ts';
import { pem } from './pem.ts';

const signAsync = promisify(sign);
const BLOCK = /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]*)-----END (?:NEW )?CERTIFICATE REQUEST-----/;
/** The DER of NULL, which RSA has as its parameters (RFC 4055, section 5). */
const NULL = new Uint8Array([5, 0]).buffer;

/** What a key is signed with: the algorithm in the request, and the hash of Node. */
function algorithmOf(type: KeyType): { readonly algorithm: AlgorithmIdentifier; readonly hash: string | null } {
  if (type.family === 'rsa')
    return { algorithm: new AlgorithmIdentifier({ algorithm: '1.2.840.113549.1.1.11', parameters: NULL }), hash: 'sha256' };
  if (type.family === 'ed25519') return { algorithm: new AlgorithmIdentifier({ algorithm: '1.3.101.112' }), hash: null };
  const [id, hash] = type.curve === 'P-256' ? ['2', 'sha256'] : type.curve === 'P-384' ? ['3', 'sha384'] : ['4', 'sha512'];
  return { algorithm: new AlgorithmIdentifier({ algorithm: `1.2.840.10045.4.3.${id}` }), hash };
}

/** A request of PKCS #10 (RFC 2986) for the key, in PEM. `template` is one whose subject and attributes are taken; without it both are empty. @throws BadRequest */
export async function signingRequest(material: Material, template: string | undefined): Promise<string> {
  const { algorithm, hash } = algorithmOf(material.type);
  const from = template ? templateOf(template) : undefined;
  const certificationRequestInfo = new CertificationRequestInfo({
    subject: from?.subject ?? new Name(),
    subjectPKInfo: AsnConvert.parse(material.publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo),
    ...(from ? { attributes: from.attributes } : {}),
  });
  const signed = Buffer.from(AsnConvert.serialize(certificationRequestInfo));
  const signature = await signAsync(hash, signed, material.privateKey);
  const request = new CertificationRequest({
    certificationRequestInfo,
    signatureAlgorithm: algorithm,
    signature: new Uint8Array(signature).buffer,
  });
  return pem('CERTIFICATE REQUEST', Buffer.from(AsnConvert.serialize(request)));
}

function templateOf(text: string): CertificationRequestInfo {
  const body = BLOCK.exec(text)?.[1];
  if (body === undefined) throw new BadRequest('could not decode PEM CSR: csr must be a certificate request in PEM');
  try {
    return AsnConvert.parse(Buffer.from(body, 'base64'), CertificationRequest).certificationRequestInfo;
  } catch {
    throw new BadRequest('csr is no certificate request of PKCS #10');
  }
}
