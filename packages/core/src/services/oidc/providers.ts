import { BadRequest, type StorageView } from '@strongroom/engine-sdk';
import type { Clients } from './clients.ts';
import { allowsClient } from './identity-tokens.ts';
import type { KeySet, NamedKeys } from './named-keys.ts';
import { oidcRecords, requireShortName, type Provider } from './oidc-records.ts';
import type { Scopes } from './scopes.ts';
import { SharedRuns } from './shared-runs.ts';
import { requireIssuer, type TokenIssuer } from './token-issuer.ts';

/** It is always there, and serves every client. */
export const DEFAULT_PROVIDER = 'default';

const builtInProvider: Provider = { issuer: '', allowed_client_ids: ['*'], scopes_supported: [] };

/** A provider with the issuer that its tokens name. */
export interface KnownProvider extends Provider {
  readonly name: string;
}

/** The OpenID providers of this server: each has an issuer, its scopes and its clients. */
export class Providers {
  readonly #storage: () => StorageView;
  readonly #issuer: TokenIssuer;
  readonly #scopes: Scopes;
  readonly #clients: Clients;
  readonly #keys: NamedKeys;
  readonly #sets = new SharedRuns<KeySet>();

  constructor(parts: { storage: () => StorageView; issuer: TokenIssuer; scopes: Scopes; clients: Clients; keys: NamedKeys }) {
    this.#storage = parts.storage;
    this.#issuer = parts.issuer;
    this.#scopes = parts.scopes;
    this.#clients = parts.clients;
    this.#keys = parts.keys;
  }

  async get(name: string): Promise<KnownProvider | undefined> {
    const stored = (await oidcRecords(this.#storage()).providers.get(name)) ?? (name === DEFAULT_PROVIDER ? builtInProvider : undefined);
    return stored && this.#known(name, stored);
  }

  /** By name. */
  async all(): Promise<KnownProvider[]> {
    const stored = new Map(await oidcRecords(this.#storage()).providers.entries());
    if (!stored.has(DEFAULT_PROVIDER)) stored.set(DEFAULT_PROVIDER, builtInProvider);
    return [...stored].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, provider]) => this.#known(name, provider));
  }

  /** Resolves with warnings. @throws BadRequest */
  async save(name: string, fields: { readonly [K in keyof Provider]?: Provider[K] | undefined }): Promise<string[]> {
    requireShortName(name);
    requireIssuer(fields.issuer ?? '');
    const scopes = fields.scopes_supported && [...new Set(fields.scopes_supported)];
    const warnings = await this.#scopes.overlaps(scopes ?? []);
    await this.#storage().transaction(async (tx) => {
      const { providers } = oidcRecords(tx);
      const before = (await providers.get(name)) ?? (name === DEFAULT_PROVIDER ? builtInProvider : undefined);
      await providers.put(name, {
        issuer: fields.issuer ?? before?.issuer ?? '',
        allowed_client_ids: [...new Set(fields.allowed_client_ids ?? before?.allowed_client_ids)],
        scopes_supported: scopes ?? before?.scopes_supported ?? [],
      });
    });
    return warnings;
  }

  /** Unknown ones are no error. @throws BadRequest for `default` */
  async remove(name: string): Promise<void> {
    if (name === DEFAULT_PROVIDER) throw new BadRequest(`deletion of OIDC provider ${JSON.stringify(name)} not allowed`);
    await oidcRecords(this.#storage()).providers.delete(name);
  }

  /** The keys that verify what the provider's clients get. */
  async keySet({ name, allowed_client_ids: allowed }: KnownProvider): Promise<KeySet> {
    return this.#sets.run(name, async () => this.#keySet(allowed));
  }

  async #keySet(allowed: readonly string[]): Promise<KeySet> {
    if (allowsClient(allowed, '*')) return this.#keys.setOfClients('*');
    const clients = await Promise.all(allowed.map(async (id) => this.#clients.byId(id)));
    return this.#keys.setOfClients(new Set(clients.flatMap((client) => client?.key ?? [])));
  }

  #known(name: string, stored: Provider): KnownProvider {
    return { ...stored, name, issuer: this.#issuer.ofProvider(name, stored.issuer) };
  }
}
