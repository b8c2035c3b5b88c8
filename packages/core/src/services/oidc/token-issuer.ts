import { BadRequest, type StorageView } from '@strongroom/engine-sdk';
import { oidcRecords } from './oidc-records.ts';

const CONFIG = 'issuer';

/** What operators read when they choose an issuer. */
export const ISSUER_WARNING =
  'If "issuer" is set explicitly, all tokens must be validated against that address, including those issued by secondary clusters. ' +
  'Setting issuer to "" will restore the default behavior of using the cluster\'s api_addr as the issuer.';

/** Who the tokens say has issued them: an address that verifiers reach. */
export class TokenIssuer {
  readonly #storage: () => StorageView;
  readonly #apiAddress: string;

  constructor(parts: { storage: () => StorageView; apiAddress: string }) {
    this.#storage = parts.storage;
    this.#apiAddress = parts.apiAddress.replace(/\/+$/, '');
  }

  /** As it was written; '' for the address of the server. */
  async configured(): Promise<string> {
    return (await oidcRecords(this.#storage()).config.get(CONFIG))?.issuer ?? '';
  }

  /** @throws BadRequest */
  async configure(issuer: string): Promise<void> {
    requireIssuer(issuer);
    await oidcRecords(this.#storage()).config.put(CONFIG, { issuer });
  }

  /** `iss` of identity tokens. */
  async ofTokens(): Promise<string> {
    return `${(await this.configured()) || this.#apiAddress}/v1/identity/oidc`;
  }

  /** `iss` of the tokens by which mounts are known outside: users of the server obtain none of this issuer. */
  async ofMounts(): Promise<string> {
    return `${await this.ofTokens()}/plugins`;
  }

  /** `iss` of the tokens of a provider. `issuer`: its own, or ''. */
  ofProvider(name: string, issuer: string): string {
    return `${issuer || this.#apiAddress}/v1/identity/oidc/provider/${name}`;
  }
}

/** Nobody finds the keys of an issuer that has no address. `setting`: where one can be given. @throws BadRequest */
export function requireAddress(issuer: string, setting: string): void {
  if (issuer.startsWith('/'))
    throw new BadRequest(`the server knows no address of its own: set api_addr in its configuration, or issuer in ${setting}`);
}

/** Scheme, host and port, and nothing more; or ''. @throws BadRequest */
export function requireIssuer(issuer: string): void {
  if (issuer === '') return;
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && /^https?:\/\/[^/\\?#@\s]+$/i.test(issuer);
  if (!plain)
    throw new BadRequest('invalid issuer, which must include only a scheme, host, and optional port (e.g. https://example.com:8200)');
}
