import { COPY_ORIGIN } from '@strongroom/engine-sdk';
import {
  ClientSideError,
  ExternalServiceError,
  formatMark,
  NameTaken,
  OWNER_TAG,
  parseMark,
  SessionCalls,
  type DestinationHost,
  type DestinationSession,
  type ListRequest,
  type PutRequest,
  type ReadRequest,
  type RemoteSecret,
  type RemoveRequest,
} from '@strongroom/sync-sdk';
import type { VaultConnection } from './connection.ts';
import { jsonData } from './json-data.ts';
import type { Kv2, KvMetadata } from './kv2.ts';
import { MOST_KEYS } from './limits.ts';
import { onwardOrigin } from './origin.ts';
import type { VaultApi } from './vault-api.ts';
import type { VaultLogin } from './vault-login.ts';
import { translateVaultError, VaultRefusal } from './vault-refusal.ts';

/** Metadata that a listing asks for at once. */
const TOGETHER = 8;
/** How long the first look at a server may take: it serves every call that waits for it. Milliseconds. */
const FIRST_LOOK = 30_000;
const MOST_METADATA = 64;

/** Secrets in one version-2 key-value mount of another server. */
export class VaultSession implements DestinationSession {
  readonly #host: DestinationHost;
  readonly #api: VaultApi;
  readonly #login: VaultLogin;
  readonly #kv: Kv2;
  readonly #calls: SessionCalls;
  #server: Promise<string | undefined> | undefined;

  constructor(parts: { connection: VaultConnection; host: DestinationHost; api: VaultApi; login: VaultLogin; kv: Kv2 }) {
    const { connection, host } = parts;
    this.#host = host;
    this.#api = parts.api;
    this.#login = parts.login;
    this.#kv = parts.kv;
    this.#calls = new SessionCalls((error) => translateVaultError(error, host.now()), [connection.token, connection.secret_id]);
  }

  async read({ name, signal }: ReadRequest): Promise<RemoteSecret | undefined> {
    return await this.#calls.run(signal, async () => {
      await this.#known();
      const found = await this.#kv.metadata(name, signal);
      return found && remoteSecret(name, found);
    });
  }

  async put(request: PutRequest): Promise<RemoteSecret> {
    return await this.#calls.run(request.signal, async () => this.#write(request), request.value);
  }

  async remove({ name, current, signal }: RemoveRequest): Promise<void> {
    await this.#calls.run(signal, async () => {
      await this.#known();
      const found = await this.#kv.metadata(name, signal);
      if (!found) return;
      if (found.custom[OWNER_TAG] !== (current.mark && formatMark(current.mark))) throw taken(name);
      await this.#kv.delete(name, signal);
    });
  }

  list({ destination, signal }: ListRequest): AsyncIterable<RemoteSecret> {
    return this.#calls.each(signal, () => this.#listOurs('', destination, signal));
  }

  async close(): Promise<void> {
    if (this.#calls.close()) await this.#login.close();
  }

  async #write(request: PutRequest): Promise<RemoteSecret> {
    const { name, signal, mark, current } = request;
    const keys = Object.keys(request.fields ?? {}).length;
    if (keys > MOST_KEYS) throw new ClientSideError(`the secret has ${keys} keys, and a key-value mount takes at most ${MOST_KEYS}`);
    const origin = onwardOrigin(request.origin, this.#host.cluster, await this.#known());
    const before = await this.#kv.metadata(name, signal);
    if (before === undefined ? current !== undefined : current === undefined || revisionOf(before) !== current.revision) throw taken(name);
    const custom = {
      ...before?.custom,
      ...request.tags,
      ...(origin === '' ? {} : { [COPY_ORIGIN]: origin }),
      hashicorp: 'vault',
      [OWNER_TAG]: formatMark(mark),
    };
    const entries = Object.entries(custom);
    if (entries.length > MOST_METADATA) {
      throw new ClientSideError(
        `the custom metadata of ${name} would have ${entries.length} keys, and at most ${MOST_METADATA} are possible`,
      );
    }
    const isDescribed = entries.every(([key, value]) => before?.custom[key] === value);
    if (!isDescribed) await this.#describe(name, custom, before, signal);
    try {
      const written = await this.#kv.write(name, jsonData(request), before?.version ?? 0, signal);
      return remoteSecret(name, { ...written, isGone: false, custom, metadataVersion: undefined });
    } catch (error) {
      if (!(error instanceof VaultRefusal) || !error.isConflict) throw error;
      // The secret is somebody else's: our mark goes again.
      const described = before === undefined ? 1 : before.metadataVersion && before.metadataVersion + 1;
      if (!isDescribed) await this.#kv.describe(name, before?.custom ?? {}, described, signal);
      throw taken(name);
    }
  }

  async #describe(
    name: string,
    custom: Readonly<Record<string, string>>,
    before: KvMetadata | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#kv.describe(name, custom, before === undefined ? 0 : before.metadataVersion, signal);
    } catch (error) {
      throw error instanceof VaultRefusal && /check-and-set|metadata_cas/.test(error.message) ? taken(name) : error;
    }
  }

  async *#listOurs(folder: string, destination: string, signal: AbortSignal): AsyncGenerator<RemoteSecret> {
    await this.#known();
    const names = await this.#kv.list(folder, signal);
    const secrets = names.filter((name) => !name.endsWith('/'));
    for (let at = 0; at < secrets.length; at += TOGETHER) {
      const page = secrets.slice(at, at + TOGETHER).map(async (name) => {
        const found = await this.#kv.metadata(`${folder}${name}`, signal);
        return found && remoteSecret(`${folder}${name}`, found);
      });
      for (const secret of await Promise.all(page)) if (secret?.mark?.destination === destination) yield secret;
    }
    for (const name of names.filter((one) => one.endsWith('/'))) yield* this.#listOurs(`${folder}${name}`, destination, signal);
  }

  /** The `cluster_id` of the server, whose mount is as it should be. Asked once. */
  async #known(): Promise<string | undefined> {
    this.#server ??= this.#firstLook(AbortSignal.timeout(FIRST_LOOK));
    const asked = this.#server;
    try {
      return await asked;
    } catch (error) {
      if (this.#server === asked) this.#server = undefined;
      throw error;
    }
  }

  async #firstLook(signal: AbortSignal): Promise<string | undefined> {
    const path = 'sys/health?standbyok=true&perfstandbyok=true';
    const answer = await this.#api.ask({ method: 'GET', path, ofServer: true }, signal);
    const { sealed, initialized, cluster_id: cluster } = answer.body ?? {};
    if (sealed === true || initialized === false) {
      const providerCode = String(answer.status);
      throw new ExternalServiceError(`the server at address is ${initialized === false ? 'not initialized' : 'sealed'}`, { providerCode });
    }
    if (answer.status === 429 || answer.status >= 500) throw new VaultRefusal(answer);
    const id = typeof cluster === 'string' ? cluster : undefined;
    // Before any other call: writes to this very server would bring the next ones about.
    onwardOrigin(undefined, this.#host.cluster, id);
    await this.#kv.checkMount(signal);
    return id;
  }
}

/** Grows with every version; its time tells a secret that was made again. */
function revisionOf({ version, versionTime, isGone }: Omit<KvMetadata, 'custom'>): string {
  return [version, versionTime, isGone ? 'deleted' : ''].filter((part) => part !== '').join(' ');
}

/** One whose current version somebody deleted is there: its other versions are, and it is ours or not as before. */
function remoteSecret(name: string, found: KvMetadata): RemoteSecret {
  const mark = parseMark(found.custom[OWNER_TAG]);
  return { name, ...(mark ? { mark } : {}), revision: revisionOf(found) };
}

function taken(name: string): NameTaken {
  return new NameTaken(`somebody else has made or changed the secret ${name} meanwhile`, { providerCode: '400' });
}
