import { ClientSideError, ExternalServiceError, type JsonAnswer } from '@strongroom/sync-sdk';
import { dataOf, encodedPath, objectIn, type VaultApi, type VaultCall } from './vault-api.ts';
import type { VaultLogin } from './vault-login.ts';
import { VaultRefusal } from './vault-refusal.ts';

/** What a server says about a secret without its values. */
export interface KvMetadata {
  /** 0 where nothing was written yet. */
  readonly version: number;
  /** Of the secret, and of its current version; as the server writes them. */
  readonly versionTime: string;
  /** Whether the current version was deleted or destroyed. */
  readonly isGone: boolean;
  readonly custom: Readonly<Record<string, string>>;
  /** Counts changes of the metadata; undefined where the server does not. */
  readonly metadataVersion: number | undefined;
}

/** The calls on a version-2 key-value mount. Names are below the prefix. Each rejects with VaultRefusal where the server says no. */
export class Kv2 {
  readonly #api: VaultApi;
  readonly #login: VaultLogin;
  readonly #mount: string;
  readonly #prefix: string;

  constructor(api: VaultApi, login: VaultLogin, place: { readonly mount: string; readonly prefix: string }) {
    this.#api = api;
    this.#login = login;
    this.#mount = place.mount;
    this.#prefix = place.prefix;
  }

  /** @throws ClientSideError where the mount is not there, or is of another kind */
  async checkMount(signal: AbortSignal): Promise<void> {
    try {
      const { type, path, options } = dataOf(
        await this.#call({ method: 'GET', path: `sys/internal/ui/mounts/${encodedPath(this.#mount)}` }, signal),
      );
      const version = objectIn({ options }, 'options')['version'];
      const found = typeof path === 'string' ? path.replace(/\/$/, '') : this.#mount;
      if (found !== this.#mount)
        throw new ClientSideError(`mount: "${this.#mount}" lies in the mount "${found}"; use path_prefix for a folder`);
      if (type === 'kv' && version === '2') return;
      const kind = type === 'kv' || type === 'generic' ? 'a version-1 key-value mount' : `a mount of type ${String(type)}`;
      throw new ClientSideError(`mount: "${this.#mount}" is ${kind}; sync needs a version-2 key-value mount`);
    } catch (error) {
      if (!(error instanceof VaultRefusal) || ![400, 403, 404].includes(error.status) || error.message === 'permission denied') throw error;
      const text = `mount: there is no "${this.#mount}" for this token; the server at address answers ${error.status}: ${error.message}`;
      throw new ClientSideError(text, { providerCode: String(error.status) });
    }
  }

  /** Undefined: nothing is there. */
  async metadata(name: string, signal: AbortSignal): Promise<KvMetadata | undefined> {
    const answer = await this.#find({ method: 'GET', path: this.#path('metadata', name) }, signal);
    return answer && metadataIn(dataOf(answer));
  }

  /** Replaces the custom metadata. `before`: the count of changes that the server may be at, where it counts them. */
  async describe(name: string, custom: Readonly<Record<string, string>>, before: number | undefined, signal: AbortSignal): Promise<void> {
    const body = JSON.stringify({ custom_metadata: custom, ...(before === undefined ? {} : { metadata_cas: before }) });
    await this.#call({ method: 'POST', path: this.#path('metadata', name), body }, signal);
  }

  /** Adds a version after the one named. `data` is JSON. @throws VaultRefusal with `isConflict` where the secret is at another version */
  async write(name: string, data: string, after: number, signal: AbortSignal): Promise<Pick<KvMetadata, 'version' | 'versionTime'>> {
    const body = `{"options":{"cas":${after}},"data":${data}}`;
    const { version, created_time: time } = dataOf(await this.#call({ method: 'POST', path: this.#path('data', name), body }, signal));
    if (typeof version !== 'number' || typeof time !== 'string') {
      throw new ExternalServiceError('the server at address answers a write without a version: is there a proxy in between?');
    }
    return { version, versionTime: time };
  }

  /** Removes the secret with all its versions. */
  async delete(name: string, signal: AbortSignal): Promise<void> {
    await this.#find({ method: 'DELETE', path: this.#path('metadata', name) }, signal);
  }

  /** The names in a folder, which is '' or ends with a slash; those of folders do, too. */
  async list(folder: string, signal: AbortSignal): Promise<string[]> {
    const answer = await this.#find({ method: 'GET', path: `${this.#path('metadata', folder)}?list=true` }, signal);
    const keys = answer && dataOf(answer)['keys'];
    return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
  }

  async #find(call: VaultCall, signal: AbortSignal): Promise<JsonAnswer | undefined> {
    try {
      return await this.#call(call, signal);
    } catch (error) {
      if (error instanceof VaultRefusal && error.isAbsence) return undefined;
      throw error;
    }
  }

  async #call(call: VaultCall, signal: AbortSignal): Promise<JsonAnswer> {
    try {
      return await this.#api.call({ ...call, token: await this.#login.token() }, signal);
    } catch (error) {
      if (error instanceof VaultRefusal && error.status === 403) this.#login.forget();
      throw error;
    }
  }

  #path(part: 'data' | 'metadata', name: string): string {
    return encodedPath([this.#mount, part, ...(this.#prefix === '' ? [] : [this.#prefix]), name].join('/'));
  }
}

function metadataIn(data: Readonly<Record<string, unknown>>): KvMetadata {
  const { current_version: version, current_metadata_version: metadataVersion } = data;
  if (typeof version !== 'number') {
    throw new ExternalServiceError('the answer of the server at address is no metadata of a secret: is there a proxy in between?');
  }
  const current = objectIn(objectIn(data, 'versions'), String(version));
  const { created_time: time, deletion_time: deleted, destroyed } = current;
  const custom = Object.entries(objectIn(data, 'custom_metadata')).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    version,
    versionTime: typeof time === 'string' ? time : '',
    isGone: destroyed === true || (typeof deleted === 'string' && deleted !== ''),
    custom: Object.fromEntries(custom),
    metadataVersion: typeof metadataVersion === 'number' ? metadataVersion : undefined,
  };
}
