import { isDeepStrictEqual } from 'node:util';
import type { SecretClient, SecretProperties } from '@azure/keyvault-secrets';
import {
  ClientSideError,
  type DestinationHost,
  type DestinationSession,
  formatMark,
  type ListRequest,
  NameTaken,
  OWNER_TAG,
  parseMark,
  type PutRequest,
  type ReadRequest,
  type RemoteSecret,
  type RemoveRequest,
  SessionCalls,
  SYNCED_TAG,
} from '@strongroom/sync-sdk';
import type { AuthorityWatch } from './authority-watch.ts';
import { innerCode, keyVaultFailure, translateAzureError } from './provider-error.ts';

/** How often Key Vault is asked whether a deletion or a recovery is through. It takes a few seconds. */
const POLL_MS = 500;
/** The most that Key Vault gives in a page. */
const PAGE = 25;

type Tags = Readonly<Record<string, string>>;

/** The newest version of a secret, or what is left of a deleted one. `value` is absent where the version is disabled or deleted. */
interface Found {
  readonly properties: SecretProperties;
  readonly value?: string | undefined;
  readonly deleted: boolean;
}

export class AzureKvSession implements DestinationSession {
  readonly #client: SecretClient;
  readonly #calls: SessionCalls;

  constructor(client: SecretClient, host: DestinationHost, authority: AuthorityWatch, clientSecret: string | undefined) {
    this.#client = client;
    this.#calls = new SessionCalls((error) => translateAzureError(error, host.now(), authority), [clientSecret]);
  }

  async read({ name, signal }: ReadRequest): Promise<RemoteSecret | undefined> {
    return await this.#calls.run(signal, async () => {
      const found = await this.#find(name, signal);
      return found === undefined ? undefined : remote(name, found);
    });
  }

  /** Key Vault sets whatever the name holds, so what is there is looked at right before. Value and tags are set in one call. */
  async put(request: PutRequest): Promise<RemoteSecret> {
    const { name, value, signal } = request;
    const work = async (): Promise<RemoteSecret> => {
      let found = await this.#find(name, signal);
      if (found !== undefined && !isExpected(found, request)) throw new NameTaken(`somebody else has written the secret ${name} meanwhile`);
      if (found?.properties.managed === true) {
        const text = `the secret ${name} belongs to a certificate of the vault, and changes with that alone`;
        throw new ClientSideError(text, { providerCode: 'managed_secret' });
      }
      if (found?.deleted === true) found = await this.#recover(name, signal);
      const tags: Tags = { ...found?.properties.tags, ...request.tags, [SYNCED_TAG]: '', [OWNER_TAG]: formatMark(request.mark) };
      if (found !== undefined && found.value === value && isDeepStrictEqual({ ...found.properties.tags }, { ...tags }))
        return remote(name, found);
      const { properties } = await this.#client.setSecret(name, value, { ...kept(found), tags: { ...tags }, abortSignal: signal });
      return remote(name, { properties, deleted: false });
    };
    return await this.#calls.run(signal, work, value);
  }

  async remove({ name, signal }: RemoveRequest): Promise<void> {
    await this.#calls.run(signal, async () => {
      await absentAsUndefined(async () => {
        const deletion = await this.#client.beginDeleteSecret(name, { intervalInMs: POLL_MS, abortSignal: signal });
        await deletion.pollUntilDone();
      });
    });
  }

  list({ destination, signal }: ListRequest): AsyncIterable<RemoteSecret> {
    return this.#calls.each(signal, () => this.#listOurs(destination, signal));
  }

  async close(): Promise<void> {
    this.#calls.close();
  }

  /** A list tells no versions, so ours are looked up, a page at a time. */
  async *#listOurs(destination: string, signal: AbortSignal): AsyncGenerator<RemoteSecret> {
    const pages = this.#client.listPropertiesOfSecrets({ abortSignal: signal }).byPage({ maxPageSize: PAGE });
    for await (const page of pages) {
      const ours = page.filter(({ tags }) => parseMark(tags?.[OWNER_TAG])?.destination === destination);
      const found = await Promise.all(ours.map(async ({ name }) => [name, await this.#findLive(name, signal)] as const));
      for (const [name, secret] of found) if (secret !== undefined) yield remote(name, secret);
    }
  }

  async #find(name: string, signal: AbortSignal): Promise<Found | undefined> {
    const live = await this.#findLive(name, signal);
    if (live !== undefined) return live;
    const deleted = await absentAsUndefined(() => this.#client.getDeletedSecret(name, { abortSignal: signal }));
    return deleted === undefined ? undefined : { properties: deleted.properties, deleted: true };
  }

  async #findLive(name: string, signal: AbortSignal): Promise<Found | undefined> {
    try {
      const secret = await absentAsUndefined(() => this.#client.getSecret(name, { abortSignal: signal }));
      return secret === undefined ? undefined : { properties: secret.properties, value: secret.value, deleted: false };
    } catch (error) {
      const failure = keyVaultFailure(error);
      if (failure === undefined || innerCode(failure) !== 'SecretDisabled') throw error;
      return await this.#findDisabled(name, signal);
    }
  }

  /** The newest version of a secret that is disabled, and so cannot be got. */
  async #findDisabled(name: string, signal: AbortSignal): Promise<Found | undefined> {
    let newest: SecretProperties | undefined;
    for await (const version of this.#client.listPropertiesOfSecretVersions(name, { abortSignal: signal })) {
      if (newest === undefined || Number(version.createdOn) >= Number(newest.createdOn)) newest = version;
    }
    return newest === undefined ? undefined : { properties: newest, deleted: false };
  }

  async #recover(name: string, signal: AbortSignal): Promise<Found | undefined> {
    const recovery = await this.#client.beginRecoverDeletedSecret(name, { intervalInMs: POLL_MS, abortSignal: signal });
    await recovery.pollUntilDone();
    return await this.#findLive(name, signal);
  }
}

/** Whether what is there is what the host has decided about: nothing but our own where it saw nothing, and the same owner otherwise. */
function isExpected(found: Found, { current, mark }: PutRequest): boolean {
  const there = found.properties.tags?.[OWNER_TAG];
  if (parseMark(there) !== undefined && there === formatMark(mark)) return true;
  if (current === undefined) return false;
  const owner = parseMark(there);
  return (owner && formatMark(owner)) === (current.mark && formatMark(current.mark));
}

/** What an operator set beside the value. A new version has only what is sent with it. */
function kept(found: Found | undefined): Pick<SecretProperties, 'contentType' | 'expiresOn' | 'notBefore'> {
  const { contentType, expiresOn, notBefore } = found?.properties ?? {};
  return {
    ...(contentType !== undefined && { contentType }),
    ...(expiresOn !== undefined && { expiresOn }),
    ...(notBefore !== undefined && { notBefore }),
  };
}

function remote(name: string, { properties, deleted }: Found): RemoteSecret {
  const mark = parseMark(properties.tags?.[OWNER_TAG]);
  const revision =
    properties.version === undefined ? undefined : `${properties.version}${properties.enabled === false ? ' (disabled)' : ''}`;
  return {
    name,
    ...(mark !== undefined && { mark }),
    ...(revision !== undefined && !deleted && { revision }),
    ...(properties.createdOn !== undefined && { createdAt: properties.createdOn }),
    ...(deleted && { softDeleted: true }),
  };
}

async function absentAsUndefined<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (keyVaultFailure(error)?.statusCode === 404) return undefined;
    throw error;
  }
}
