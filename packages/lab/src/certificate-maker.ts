import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AccessDescription,
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityInfoAccessSyntax,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ad_ocsp,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_pe_authorityInfoAccess,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  NameConstraints,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import { rsaKeyPair } from './rsa-keys.ts';

/** A certificate to make. What is left out is as a client certificate has it. */
export interface CertificateOrder {
  /** Parts in the order of the certificate, such as `OU=eng,CN=alice`; '' for an empty name. */
  readonly subject: string;
  /** Who signs it; by default it signs itself. */
  readonly issuer?: MadeCertificate;
  readonly key?: 'ec' | 'rsa' | 'ed25519';
  /** Certifies the key of another certificate again. */
  readonly keyOf?: MadeCertificate;
  /** A CA, with the number of CAs that its paths may have below it. */
  readonly authority?: boolean | { readonly pathLength: number };
  /** Flags of the extension; null leaves it out. By default those that the kind of certificate needs. */
  readonly keyUsage?: number | null;
  /** OIDs; [] leaves the extension out. `clientAuth` by default, and none for a CA. */
  readonly extendedKeyUsage?: readonly string[];
  /** Alternative names: `DNS:a.example`, `email:a@example`, `URI:spiffe://a`, `IP:127.0.0.1`, `DIR:CN=a`. */
  readonly names?: readonly string[];
  /** Name constraints, in the form of `names`. */
  readonly permitted?: readonly string[];
  readonly excluded?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Further extensions: their values in DER. */
  readonly extensions?: readonly { readonly oid: string; readonly critical?: boolean; readonly value: Uint8Array }[];
  /** URLs of OCSP responders. */
  readonly ocsp?: readonly string[];
  readonly serial?: bigint;
}

/** A certificate with its key. */
export interface MadeCertificate {
  readonly der: Buffer;
  /** The certificate alone. */
  readonly pem: string;
  /** The certificate and those above it, without the one at the top. */
  readonly chain: string;
  /** The same in DER. */
  readonly path: readonly Buffer[];
  /** PEM, PKCS #8. */
  readonly key: string;
  readonly serial: bigint;
  readonly issuer: MadeCertificate | undefined;
}

const ATTRIBUTES: Readonly<Record<string, string>> = { CN: '2.5.4.3', O: '2.5.4.10', OU: '2.5.4.11', C: '2.5.4.6' };
const SIGNATURES: Readonly<Record<string, AlgorithmIdentifier>> = {
  ec: new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' }),
  rsa: new AlgorithmIdentifier({ algorithm: '1.2.840.113549.1.1.11', parameters: Uint8Array.of(0x05, 0x00).buffer }),
  ed25519: new AlgorithmIdentifier({ algorithm: '1.3.101.112' }),
};

/** Makes and signs a certificate of X.509, version 3. */
export function makeCertificate(order: CertificateOrder): MadeCertificate {
  const { issuer, authority = false } = order;
  const { privateKey, publicKey } = order.keyOf ? keysOf(order.keyOf) : newKeys(order.key ?? 'ec');
  const signer = issuer ? createPrivateKey(issuer.key) : privateKey;
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const serial = order.serial ?? BigInt(`0x4${randomBytes(12).toString('hex')}`);
  const body = new TBSCertificate({
    version: Version.v3,
    serialNumber: integerBytes(serial),
    signature: SIGNATURES[signer.asymmetricKeyType!]!,
    issuer: issuer ? bodyOf(issuer).subject : nameOf(order.subject),
    validity: new Validity({ notBefore: order.notBefore ?? new Date('2020-01-01'), notAfter: order.notAfter ?? new Date('2049-12-31') }),
    subject: nameOf(order.subject),
    subjectPublicKeyInfo: AsnConvert.parse(spki, SubjectPublicKeyInfo),
    extensions: new Extensions(extensionsOf(order, authority, keyId(spki), issuer ? issuerKeyId(issuer) : keyId(spki))),
  });
  const { algorithm, signature } = signedBy(signer, AsnConvert.serialize(body));
  const der = Buffer.from(
    AsnConvert.serialize(new Certificate({ tbsCertificate: body, signatureAlgorithm: algorithm, signatureValue: signature })),
  );
  const text = pem('CERTIFICATE', der);
  const above = issuer?.issuer ? issuer : undefined;
  return {
    der,
    pem: text,
    chain: text + (above?.chain ?? ''),
    path: [der, ...(above?.path ?? [])],
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    serial,
    issuer,
  };
}

/** The body of a made certificate. */
export function bodyOf(made: MadeCertificate): TBSCertificate {
  return AsnConvert.parse(made.der, Certificate).tbsCertificate;
}

/** The signature of bytes, as X.509 writes it. */
export function signedBy(key: KeyObject, bytes: ArrayBuffer): { algorithm: AlgorithmIdentifier; signature: ArrayBuffer } {
  const type = key.asymmetricKeyType!;
  return { algorithm: SIGNATURES[type]!, signature: arrayBuffer(sign(type === 'ed25519' ? null : 'sha256', new Uint8Array(bytes), key)) };
}

/** An extension around a value of ASN.1, or around its DER. */
export function extension(extnID: string, critical: boolean, value: object): Extension {
  const der = value instanceof Uint8Array ? arrayBuffer(value) : AsnConvert.serialize(value);
  return new Extension({ extnID, critical, extnValue: new OctetString(der) });
}

/** The bytes of an INTEGER that is not negative. */
export function integerBytes(value: bigint): ArrayBuffer {
  const hex = value.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return arrayBuffer(Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex'));
}

export function arrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

export function pem(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${der.toString('base64').replace(/.{64}(?!$)/g, '$&\n')}\n-----END ${label}-----\n`;
}

function extensionsOf(
  order: CertificateOrder,
  authority: NonNullable<CertificateOrder['authority']>,
  own: ArrayBuffer,
  above: ArrayBuffer,
): Extension[] {
  const usual = authority ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature;
  const flags = order.keyUsage === undefined ? usual : order.keyUsage;
  const purposes = order.extendedKeyUsage ?? (authority ? [] : [id_kp_clientAuth]);
  const { names = [], permitted = [], excluded = [], ocsp = [] } = order;
  const constraints = new BasicConstraints(
    authority ? { cA: true, ...(authority === true ? {} : { pathLenConstraint: authority.pathLength }) } : {},
  );
  return [
    extension(id_ce_basicConstraints, authority !== false, constraints),
    ...(flags === null ? [] : [extension(id_ce_keyUsage, true, new KeyUsage(flags))]),
    ...(purposes.length === 0 ? [] : [extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([...purposes]))]),
    extension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(own)),
    extension(id_ce_authorityKeyIdentifier, false, new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(above) })),
    ...(names.length === 0 ? [] : [extension(id_ce_subjectAltName, false, new SubjectAlternativeName(names.map(generalName)))]),
    ...(permitted.length + excluded.length === 0
      ? []
      : [
          extension(
            id_ce_nameConstraints,
            true,
            new NameConstraints({
              ...(permitted.length > 0 ? { permittedSubtrees: subtrees(permitted) } : {}),
              ...(excluded.length > 0 ? { excludedSubtrees: subtrees(excluded) } : {}),
            }),
          ),
        ]),
    ...(ocsp.length === 0
      ? []
      : [
          extension(
            id_pe_authorityInfoAccess,
            false,
            new AuthorityInfoAccessSyntax(
              ocsp.map((url) => new AccessDescription({ accessMethod: id_ad_ocsp, accessLocation: generalName(`URI:${url}`) })),
            ),
          ),
        ]),
    ...(order.extensions ?? []).map(({ oid, critical = false, value }) => extension(oid, critical, value)),
  ];
}

function subtrees(names: readonly string[]): GeneralSubtrees {
  return new GeneralSubtrees(names.map((name) => new GeneralSubtree({ base: generalName(name) })));
}

function generalName(text: string): GeneralName {
  const at = text.indexOf(':');
  const value = text.slice(at + 1);
  switch (text.slice(0, at)) {
    case 'DNS':
      return new GeneralName({ dNSName: value });
    case 'email':
      return new GeneralName({ rfc822Name: value });
    case 'URI':
      return new GeneralName({ uniformResourceIdentifier: value });
    case 'IP':
      return new GeneralName({ iPAddress: value });
    case 'DIR':
      return new GeneralName({ directoryName: nameOf(value) });
    default:
      throw new TypeError(`${text} is no alternative name`);
  }
}

function nameOf(subject: string): Name {
  const parts = subject === '' ? [] : subject.split(',');
  return new Name(
    parts.map((part) => {
      const [type = '', value = ''] = part.split('=');
      return new RelativeDistinguishedName([
        new AttributeTypeAndValue({ type: ATTRIBUTES[type]!, value: new AttributeValue({ utf8String: value }) }),
      ]);
    }),
  );
}

function newKeys(type: NonNullable<CertificateOrder['key']>): { privateKey: KeyObject; publicKey: KeyObject } {
  if (type === 'rsa') return rsaKeyPair();
  return type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
}

function keysOf(made: MadeCertificate): { privateKey: KeyObject; publicKey: KeyObject } {
  return { privateKey: createPrivateKey(made.key), publicKey: createPublicKey(made.key) };
}

function issuerKeyId(issuer: MadeCertificate): ArrayBuffer {
  return keyId(keysOf(issuer).publicKey.export({ type: 'spki', format: 'der' }));
}

/** The digest of the key itself, as RFC 5280 suggests. */
function keyId(spki: Buffer): ArrayBuffer {
  return arrayBuffer(
    createHash('sha1')
      .update(new Uint8Array(AsnConvert.parse(spki, SubjectPublicKeyInfo).subjectPublicKey))
      .digest(),
  );
}
