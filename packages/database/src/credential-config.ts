import { createPrivateKey, X509Certificate } from 'node:crypto';
import { BadRequest } from '@strongroom/engine-sdk';
import { compileTemplate } from '@strongroom/go-template';
import type { CredentialType } from '@strongroom/database-sdk';

const TYPES: readonly string[] = ['password', 'rsa_private_key', 'client_certificate'] satisfies CredentialType[];

const OPTIONS: Readonly<Record<CredentialType, readonly string[]>> = {
  password: ['password_policy'],
  rsa_private_key: ['key_bits', 'format'],
  client_certificate: ['common_name_template', 'ca_cert', 'ca_private_key', 'key_type', 'key_bits', 'signature_bits'],
};

/** By key type; the first is the default. */
export const CERTIFICATE_KEY_BITS: Readonly<Record<string, readonly string[]>> = {
  rsa: ['2048', '3072', '4096'],
  ec: ['256', '224', '384', '521'],
  ed25519: [],
};
const RSA_KEY_BITS = ['2048', '3072', '4096'];
const SIGNATURE_BITS = ['256', '384', '512'];

/** @throws BadRequest */
export function checkCredentialType(type: string): CredentialType {
  if (!TYPES.includes(type)) throw new BadRequest(`invalid credential_type ${JSON.stringify(type)}`);
  return type as CredentialType;
}

/** Checks the options of a credential type. @throws BadRequest that names the option and shows no key. */
export function checkCredentialConfig(type: CredentialType, config: Readonly<Record<string, string>>): void {
  for (const option of Object.keys(config)) {
    if (!OPTIONS[type].includes(option)) refuse(`${type} does not take ${option}; it takes ${OPTIONS[type].join(', ')}`);
  }
  if (type === 'rsa_private_key') {
    oneOf('key_bits', config['key_bits'], RSA_KEY_BITS);
    oneOf('format', config['format'], ['pkcs8']);
  } else if (type === 'client_certificate') checkCertificateConfig(config);
}

function checkCertificateConfig(config: Readonly<Record<string, string>>): void {
  const keyType = config['key_type'];
  if (!keyType) refuse('missing required key_type: one of rsa, ed25519, ec');
  oneOf('key_type', keyType, Object.keys(CERTIFICATE_KEY_BITS));
  if (keyType !== 'ed25519') oneOf('key_bits', config['key_bits'], CERTIFICATE_KEY_BITS[keyType]!);
  oneOf('signature_bits', config['signature_bits'], SIGNATURE_BITS);
  const template = config['common_name_template'];
  if (template) {
    try {
      compileTemplate(template, { fields: ['DisplayName', 'RoleName'], typeName: 'dbplugin.UsernameMetadata' });
    } catch (error) {
      refuse(`invalid common_name_template: ${(error as Error).message}`);
    }
  }
  checkAuthority(config['ca_cert'], config['ca_private_key']);
}

function checkAuthority(ca: string | undefined, key: string | undefined): void {
  if (!ca) refuse('missing required ca_cert');
  if (!key) refuse('missing required ca_private_key');
  let certificate: X509Certificate | undefined;
  try {
    certificate = new X509Certificate(ca);
  } catch {
    return refuse('ca_cert is not a PEM certificate');
  }
  if (!certificate.ca) refuse('ca_cert is not the certificate of an authority');
  let belongs = false;
  try {
    belongs = certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    refuse('ca_private_key is not a PEM private key without a passphrase');
  }
  if (!belongs) refuse('ca_private_key is not the key of ca_cert');
}

function oneOf(option: string, value: string | undefined, values: readonly string[]): void {
  if (value !== undefined && value !== '' && !values.includes(value)) refuse(`invalid ${option}: ${value}`);
}

function refuse(reason: string): never {
  throw new BadRequest(`credential_config validation failed: ${reason}`);
}
