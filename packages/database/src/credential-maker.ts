import { createPublicKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { EngineError, InvalidRequest, type EngineHost } from '@strongroom/engine-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { safeNamePart, type Credential, type CredentialType } from '@strongroom/database-sdk';
import type { Static } from 'typebox';
import type { StoredCredential } from './records.ts';

/** A credential of a role: `credential` goes to the plugin, `data` to the client. Plain texts, so that it can be stored. */
export type MadeCredential = Static<typeof StoredCredential>;

export interface CredentialOrder {
  readonly type: CredentialType;
  readonly config: Readonly<Record<string, string>>;
  readonly username: string;
  readonly displayName: string;
  readonly roleName: string;
  /** The policy of the connection; '' for the default one. */
  readonly passwordPolicy: string;
  readonly expiresAt: Date;
}

const newKeyPair = promisify(generateKeyPair);

/** Makes credentials of all types. */
export class CredentialMaker {
  readonly #host: EngineHost;

  constructor(host: EngineHost) {
    this.#host = host;
  }

  async make(order: CredentialOrder): Promise<MadeCredential> {
    switch (order.type) {
      case 'password': {
        const password = await this.password(order.config['password_policy'] || order.passwordPolicy);
        return { credential: { type: 'password', password }, data: { password } };
      }
      case 'rsa_private_key':
        return this.#rsaKey(Number(order.config['key_bits'] || 2048));
      case 'client_certificate':
        return this.#certificate(order);
    }
  }

  /** By the named policy; '' for the default one. @throws InvalidRequest for a name that is not there. */
  async password(policy: string): Promise<string> {
    try {
      return await this.#host.generatePassword(policy === '' ? undefined : policy);
    } catch (error) {
      if (error instanceof EngineError && error.status < 500) {
        throw new InvalidRequest(`unable to generate a password by password_policy ${JSON.stringify(policy)}: ${error.message}`);
      }
      throw error;
    }
  }

  /** Of a certificate: by `common_name_template`, else the user's name. */
  commonName(config: Readonly<Record<string, string>>, username: string, displayName: string, roleName: string): string {
    const environment = { now: () => this.#host.clock.now(), randomBytes: (count: number) => this.#host.randomBytes(count) };
    const template = config['common_name_template'];
    if (!template) return username;
    return compileTemplate(template).render({ DisplayName: safeNamePart(displayName), RoleName: safeNamePart(roleName) }, environment);
  }

  async #rsaKey(modulusLength: number): Promise<MadeCredential> {
    const { privateKey } = await newKeyPair('rsa', {
      modulusLength,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string;
    return { credential: { type: 'rsa_private_key', publicKey }, data: { rsa_private_key: privateKey } };
  }

  async #certificate({ config, username, displayName, roleName, expiresAt }: CredentialOrder): Promise<MadeCredential> {
    const { issueCertificate } = await import('./client-certificate.ts');
    const commonName = this.commonName(config, username, displayName, roleName);
    const issued = await issueCertificate({ config, commonName, now: this.#host.clock.now(), expiresAt });
    return {
      credential: { type: 'client_certificate', subject: issued.subject },
      data: {
        client_certificate: issued.certificate,
        private_key: issued.privateKey,
        private_key_type: config['key_type'] ?? '',
      },
    };
  }
}

/** The plugin's side of a stored credential. */
export function pluginCredential(made: MadeCredential): Credential {
  return made.credential as Credential;
}
