import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ConfigurationInvalid } from './errors.ts';

/** PEM texts, as Node's TLS takes them. */
export interface PemMaterial {
  readonly ca?: string;
  /** The client's certificate and those between it and its authority. */
  readonly cert?: string;
  readonly key?: string;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/** What `pem_bundle` or `pem_json` holds; undefined where neither is given. Throws ConfigurationInvalid, which shows nothing of them. */
export function pemMaterial({ pem_bundle, pem_json }: { pem_bundle?: string; pem_json?: string }): PemMaterial | undefined {
  if (pem_bundle && pem_json) throw new ConfigurationInvalid('cannot specify both pem_json and pem_bundle');
  if (pem_bundle) return sort('pem_bundle', pem_bundle);
  return pem_json ? sort('pem_json', joinJson(pem_json)) : undefined;
}

function joinJson(text: string): string {
  try {
    const parsed = JSON.parse(text) as Record<string, unknown>;
    const { certificate, private_key, issuing_ca, ca_chain } = (parsed['data'] ?? parsed) as Record<string, unknown>;
    return [certificate, private_key, issuing_ca, ca_chain].flat().filter(Boolean).map(String).join('\n');
  } catch {
    throw new ConfigurationInvalid('pem_json must be a JSON object with certificate, private_key and issuing_ca');
  }
}

/** With a key, the certificate that it belongs to is the client's, and the others its authorities; without, all are authorities. */
function sort(field: string, text: string): PemMaterial {
  const blocks = [...text.matchAll(BLOCK)].map(([block, label]) => ({ block, label: label! }));
  const keys = blocks.filter(({ label }) => label.endsWith('PRIVATE KEY')).map(({ block }) => block);
  const certificates = blocks.filter(({ label }) => label === 'CERTIFICATE').map(({ block }) => block);
  if (certificates.length === 0) throw new ConfigurationInvalid(`${field} holds no PEM certificate`);
  if (keys.length > 1) throw new ConfigurationInvalid(`${field} holds more than one private key`);
  const parsed = certificates.map((block) => ({ block, certificate: parse(field, () => new X509Certificate(block)) }));
  const [keyText] = keys;
  if (keyText === undefined) return { ca: certificates.join('\n') };
  const key: KeyObject = parse(field, () => createPrivateKey(keyText));
  const own = parsed.find(({ certificate }) => certificate.checkPrivateKey(key));
  if (!own) throw new ConfigurationInvalid(`${field} holds a private key that belongs to none of its certificates`);
  const others = [...new Set(certificates.filter((block) => block !== own.block))];
  return { cert: [own.block, ...others].join('\n'), key: keyText, ...(others.length > 0 && { ca: others.join('\n') }) };
}

function parse<T>(field: string, work: () => T): T {
  try {
    return work();
  } catch {
    throw new ConfigurationInvalid(`${field} is not usable PEM`);
  }
}

/**
 * The PEM texts of a connection's fields, each checked. `names`: what the fields for the authorities, the client's certificate and its key are called.
 * Throws ConfigurationInvalid.
 */
export function pemFields<N extends string>(
  config: { readonly [K in N]?: unknown },
  names: { readonly ca: N; readonly cert: N; readonly key: N },
): PemMaterial {
  const text = (name: N): string | undefined => (config[name] ? String(config[name]) : undefined);
  const [ca, cert, key] = [text(names.ca), text(names.cert), text(names.key)];
  if ((cert === undefined) !== (key === undefined)) throw new ConfigurationInvalid(`${names.cert} and ${names.key} must be given together`);
  if (ca !== undefined) requireUsablePem(`${names.ca} is not usable PEM`, { ca });
  if (cert === undefined || key === undefined) return ca === undefined ? {} : { ca };
  requireUsablePem(`${names.cert} is not usable PEM`, { cert });
  requireUsablePem(`${names.key} is not usable PEM`, { key });
  requireUsablePem(`${names.key} does not belong to ${names.cert}, or is not usable PEM`, { cert, key });
  return { ...(ca !== undefined && { ca }), cert, key };
}

/** Throws ConfigurationInvalid with this message where Node's TLS cannot use the texts, or `ca` holds no certificate. */
export function requireUsablePem(message: string, material: PemMaterial): void {
  try {
    if (material.ca !== undefined) new X509Certificate(material.ca);
    createSecureContext(material);
  } catch {
    throw new ConfigurationInvalid(message);
  }
}
