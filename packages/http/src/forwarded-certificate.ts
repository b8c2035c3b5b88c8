import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

/**
 * One step from the text of a header to a certificate. `RFC9440` takes the colons off a `Client-Cert`, `URL` decodes percents, `PEM` takes what is between the
 * lines of a PEM block, `BASE64` decodes it, and `DER` is `PEM` and `BASE64` in one.
 */
export const CERTIFICATE_DECODERS = ['RFC9440', 'URL', 'PEM', 'BASE64', 'DER'] as const;
/** The name of such a step. */
export type CertificateDecoder = (typeof CERTIFICATE_DECODERS)[number];

/** The header in which a proxy passes on the certificate that its client has shown. */
export interface ForwardedCertificateOptions {
  /** The name of the header, such as `X-SSL-Client-Cert`. */
  readonly header: string;
  /** Steps in order. What they leave, if it is still text, is one certificate in DER as base64. None by default. */
  readonly decoders?: readonly CertificateDecoder[];
}

/** What RFC 9440 calls the headers of a forwarded certificate. */
const STANDARD_HEADERS = ['client-cert', 'client-cert-chain'] as const;
const PEM_BLOCK = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g;

const steps: Readonly<Record<CertificateDecoder, (value: string | Buffer) => string | Buffer>> = {
  RFC9440: (value) => {
    const text = String(value).trim();
    if (!/^:[^:]*:$/.test(text)) throw undecodable('RFC9440');
    return text.slice(1, -1);
  },
  URL: (value) => {
    try {
      return decodeURIComponent(String(value));
    } catch {
      throw undecodable('URL');
    }
  },
  PEM: pemBody,
  BASE64: base64,
  DER: (value) => base64(pemBody(value)),
};

/** Finds the certificate that a proxy has passed on, and removes the header from requests that may not have it. */
export class ForwardedCertificate {
  readonly #header: string | undefined;
  readonly #decoders: readonly CertificateDecoder[];
  readonly #dropped: readonly string[];

  /** Without options no certificate is ever passed on. @throws TypeError for a name that no header has, or an unknown decoder */
  constructor(options: ForwardedCertificateOptions | undefined) {
    if (options && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(options.header)) {
      throw new TypeError(`forwardedCertificate: ${JSON.stringify(options.header)} is no name of a header`);
    }
    const unknown = options?.decoders?.find((name) => !CERTIFICATE_DECODERS.includes(name));
    if (unknown !== undefined) throw new TypeError(`forwardedCertificate: ${JSON.stringify(unknown)} is no decoder`);
    this.#header = options?.header.toLowerCase();
    this.#decoders = options?.decoders ?? [];
    this.#dropped = STANDARD_HEADERS.filter((name) => name !== this.#header);
  }

  /**
   * The certificate in the header, in DER; undefined if there is none. `forwarded`: a trusted proxy sent the request for somebody else; without that the
   * header is removed.
   * @throws Refusal (400) for what is not one certificate
   */
  take(request: IncomingMessage, forwarded: boolean): Uint8Array | undefined {
    const { headers } = request;
    for (const name of this.#dropped) if (headers[name] !== undefined) delete headers[name];
    const name = this.#header;
    if (name === undefined || headers[name] === undefined) return undefined;
    if (!forwarded) {
      delete headers[name];
      return undefined;
    }
    const values = request.headersDistinct[name] ?? [];
    if (values.length !== 1 || values[0]!.includes(',')) {
      throw new Refusal(400, 'too many values for client certificate header; check RFC 9440 and do not send chain');
    }
    return values[0] === '' ? undefined : this.#decoded(values[0]!);
  }

  #decoded(text: string): Uint8Array {
    let value: string | Buffer = text;
    for (const name of this.#decoders) value = steps[name](value);
    const der = base64(value);
    try {
      // A certificate and nothing after it: what follows would be ignored here and not by others.
      if (new X509Certificate(der).raw.equals(der)) return der;
    } catch {
      // Said below.
    }
    throw new Refusal(400, 'error decoding client certificate header as x509.Certificate');
  }
}

/** Decoded bytes stay as they are. @throws Refusal (400) */
function base64(value: string | Buffer): Buffer {
  if (typeof value !== 'string') return value;
  const text = value.replace(/\s+/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) {
    throw new Refusal(400, 'error decoding client certificate header as base64');
  }
  return Buffer.from(text, 'base64');
}

/** @throws Refusal (400) */
function pemBody(value: string | Buffer): string {
  const blocks = [...String(value).matchAll(PEM_BLOCK)];
  if (blocks.length > 1) throw new Refusal(400, 'too many values for client certificate header; check RFC 9440 and do not send chain');
  if (blocks.length === 0) throw undecodable('PEM');
  return blocks[0]![1]!;
}

function undecodable(decoder: CertificateDecoder): Refusal {
  return new Refusal(400, `error decoding client certificate header as ${decoder}`);
}
