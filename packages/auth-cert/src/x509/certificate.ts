import { createHash, X509Certificate, type KeyObject } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AuthorityInfoAccessSyntax,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate as Asn1Certificate,
  ExtendedKeyUsage,
  type GeneralName,
  id_ad_ocsp,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_pe_authorityInfoAccess,
  KeyUsage,
  type Name,
  NameConstraints,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
} from '@peculiar/asn1-x509';
import { isSignedBy, type Signed } from './signature.ts';

const COMMON_NAME = '2.5.4.3';
/** Bytes of a certificate, and how many. */
const LONGEST_REMEMBERED = 4_096;
const MOST_REMEMBERED = 1_000;
const ORGANIZATIONAL_UNIT = '2.5.4.11';

/** A certificate that cannot be read. The message says why, without its bytes. */
export class CertificateUnreadable extends Error {
  override readonly name = 'CertificateUnreadable';
}

/** An extension as it is written. */
export interface CertificateExtension {
  readonly oid: string;
  readonly critical: boolean;
  /** DER. */
  readonly value: Uint8Array;
}

/** Alternative names by kind, in the order of the certificate. */
export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly email: readonly string[];
  readonly uri: readonly string[];
  readonly all: readonly GeneralName[];
}

/** A certificate of X.509, read once. Nothing of it is trusted. */
export class Certificate {
  readonly der: Buffer;
  readonly publicKey: KeyObject;
  /** 1, 2 or 3. */
  readonly version: number;
  readonly serial: bigint;
  readonly subject: Name;
  readonly issuer: Name;
  /** DER as hex, by which names are compared: as they are written, bit by bit. */
  readonly subjectId: string;
  readonly issuerId: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Each only once. */
  readonly extensions: ReadonlyMap<string, CertificateExtension>;
  readonly basicConstraints: BasicConstraints | undefined;
  /** Flags of `KeyUsageFlags`; undefined without the extension, which allows every use. */
  readonly keyUsage: number | undefined;
  /** OIDs; undefined without the extension. */
  readonly extendedKeyUsage: readonly string[] | undefined;
  readonly nameConstraints: NameConstraints | undefined;
  readonly names: AlternativeNames;
  /** Hex; undefined without the extension. */
  readonly subjectKeyId: string | undefined;
  readonly authorityKeyId: string | undefined;
  /** URLs of OCSP responders. */
  readonly ocspServers: readonly string[];
  readonly signed: Signed;
  /** The bits of the public key, without its algorithm. */
  readonly keyBits: Uint8Array;
  readonly #signers = new WeakMap<Certificate, boolean>();

  private constructor(der: Buffer) {
    const x509 = new X509Certificate(der);
    // Bytes after the certificate would make another certificate of the same one.
    if (!x509.raw.equals(der)) throw new CertificateUnreadable('there is something after the certificate');
    this.der = der;
    this.publicKey = x509.publicKey;
    const { tbsCertificate: body, tbsCertificateRaw, signatureAlgorithm, signatureValue } = AsnConvert.parse(der, Asn1Certificate);
    if (body.signature.algorithm !== signatureAlgorithm.algorithm)
      throw new CertificateUnreadable('it names two algorithms of its signature');
    this.version = Number(body.version) + 1;
    this.serial = BigInt(`0x${Buffer.from(body.serialNumber).toString('hex') || '0'}`);
    this.subject = body.subject;
    this.issuer = body.issuer;
    this.subjectId = idOf(body.subject);
    this.issuerId = idOf(body.issuer);
    this.notBefore = body.validity.notBefore.getTime().getTime();
    this.notAfter = body.validity.notAfter.getTime().getTime();
    this.keyBits = new Uint8Array(body.subjectPublicKeyInfo.subjectPublicKey);
    this.signed = { bytes: tbsCertificateRaw!, algorithm: signatureAlgorithm, signature: signatureValue };
    const extensions = new Map<string, CertificateExtension>();
    for (const { extnID: oid, critical, extnValue } of body.extensions ?? []) {
      if (extensions.has(oid)) throw new CertificateUnreadable(`it has the extension ${oid} twice`);
      extensions.set(oid, { oid, critical, value: new Uint8Array(extnValue.buffer) });
    }
    this.extensions = extensions;
    const read = <T>(oid: string, type: new () => T): T | undefined => {
      const found = extensions.get(oid);
      return found && AsnConvert.parse(found.value, type);
    };
    this.basicConstraints = read(id_ce_basicConstraints, BasicConstraints);
    this.keyUsage = read(id_ce_keyUsage, KeyUsage)?.toNumber();
    const purposes = read(id_ce_extKeyUsage, ExtendedKeyUsage);
    this.extendedKeyUsage = purposes && [...purposes];
    this.nameConstraints = read(id_ce_nameConstraints, NameConstraints);
    this.names = alternativeNames(read(id_ce_subjectAltName, SubjectAlternativeName) ?? []);
    this.subjectKeyId = hexOf(read(id_ce_subjectKeyIdentifier, SubjectKeyIdentifier)?.buffer);
    this.authorityKeyId = hexOf(read(id_ce_authorityKeyIdentifier, AuthorityKeyIdentifier)?.keyIdentifier?.buffer);
    this.ocspServers = (read(id_pe_authorityInfoAccess, AuthorityInfoAccessSyntax) ?? [])
      .filter(({ accessMethod }) => accessMethod === id_ad_ocsp)
      .flatMap(({ accessLocation }) => accessLocation.uniformResourceIdentifier ?? []);
  }

  /** What is read again and again is remembered: a client shows its certificate at each login and renewal. @throws CertificateUnreadable */
  static read(der: Uint8Array): Certificate {
    const key = der.byteLength > LONGEST_REMEMBERED ? undefined : createHash('sha256').update(der).digest('base64');
    const known = key === undefined ? undefined : remembered.get(key);
    if (known) return known;
    try {
      const certificate = new Certificate(Buffer.from(der));
      if (remembered.size >= MOST_REMEMBERED) remembered.clear();
      if (key !== undefined) remembered.set(key, certificate);
      return certificate;
    } catch (error) {
      if (error instanceof CertificateUnreadable) throw error;
      throw new CertificateUnreadable('it is not an X.509 certificate', { cause: error });
    }
  }

  /** The certificates in a text of PEM blocks, in order. Empty for a text without any. @throws CertificateUnreadable */
  static readPem(text: string): Certificate[] {
    const blocks = text.matchAll(/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END/g);
    return [...blocks].map(([, body]) => Certificate.read(Buffer.from(body!, 'base64')));
  }

  /** Says that it may sign certificates. */
  get isAuthority(): boolean {
    return this.basicConstraints?.cA === true;
  }

  /** The most specific one, where there are several; '' without any. */
  get commonName(): string {
    return this.attributes(COMMON_NAME).at(-1) ?? '';
  }

  get organizationalUnits(): string[] {
    return this.attributes(ORGANIZATIONAL_UNIT);
  }

  /** Values of an attribute of the subject. */
  attributes(type: string): string[] {
    return this.subject.flatMap((part) => part.filter((one) => one.type === type).map(({ value }) => value.toString()));
  }

  /** SHA-256 of the whole certificate, as hex. */
  get digest(): string {
    return createHash('sha256').update(this.der).digest('hex');
  }

  /** RFC 7093: 160 bits of the SHA-256 of the public key, as hex. Nobody can choose it, in contrast to `subjectKeyId`. */
  get keyDigest(): string {
    return createHash('sha256').update(this.keyBits).digest('hex').slice(0, 40);
  }

  equals(other: Certificate): boolean {
    return this.der.equals(other.der);
  }

  /** Whether it names the other as its issuer. Says nothing about the signature. */
  namesAsIssuer(other: Certificate): boolean {
    if (this.issuerId !== other.subjectId) return false;
    return this.authorityKeyId === undefined || other.subjectKeyId === undefined || this.authorityKeyId === other.subjectKeyId;
  }

  /** Verified once for each issuer: many roles may trust one CA. */
  isSignedBy(issuer: Certificate): boolean {
    let signed = this.#signers.get(issuer);
    if (signed === undefined) {
      signed = isSignedBy(issuer.publicKey, this.signed);
      this.#signers.set(issuer, signed);
    }
    return signed;
  }
}

const remembered = new Map<string, Certificate>();

/** The DER of a name, as hex. */
export function idOf(name: Name): string {
  return Buffer.from(AsnConvert.serialize(name)).toString('hex');
}

function hexOf(bytes: ArrayBuffer | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString('hex');
}

function alternativeNames(all: readonly GeneralName[]): AlternativeNames {
  return {
    all,
    dns: all.flatMap(({ dNSName }) => dNSName ?? []),
    email: all.flatMap(({ rfc822Name }) => rfc822Name ?? []),
    uri: all.flatMap(({ uniformResourceIdentifier }) => uniformResourceIdentifier ?? []),
  };
}
