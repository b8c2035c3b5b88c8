import sodium from 'libsodium-wrappers';
import {
  ClientSideError,
  type DestinationHost,
  type DestinationSession,
  type ListRequest,
  NameTaken,
  type PutRequest,
  type ReadRequest,
  type RemoteSecret,
  type RemoveRequest,
  SessionCalls,
} from '@strongroom/sync-sdk';
import type { ListedSecret, PublicKey, SecretsPlace } from './places.ts';
import { isNotFound, requestFailure, translateGithubError } from './provider-error.ts';

const PAGE = 100;

export class GithubSession implements DestinationSession {
  readonly #place: SecretsPlace;
  readonly #calls: SessionCalls;
  #key: PublicKey | undefined;

  constructor(place: SecretsPlace, host: DestinationHost, credentials: readonly (string | undefined)[]) {
    this.#place = place;
    this.#calls = new SessionCalls((error) => translateGithubError(error, host.now()), credentials);
  }

  async read({ name, signal }: ReadRequest): Promise<RemoteSecret | undefined> {
    return await this.#calls.run(signal, () => this.#find(name, signal));
  }

  /** GitHub replaces whatever the name holds, so a name that the host saw free is looked at again right before. */
  async put(request: PutRequest): Promise<RemoteSecret> {
    const { name, value, signal } = request;
    const work = async (): Promise<RemoteSecret> => {
      const found = await this.#find(name, signal);
      if (found !== undefined && found.identity !== request.current?.identity) {
        throw new NameTaken(`somebody else has written the secret ${name} meanwhile`);
      }
      await sodium.ready;
      const key = (this.#key ??= await this.#place.publicKey(signal));
      try {
        await this.#place.put(name, seal(value, key.key), key.key_id, signal);
      } catch (error) {
        // The key may have been replaced: the next try asks for it.
        if (requestFailure(error)?.status === 422) this.#key = undefined;
        throw error;
      }
      return remote(await this.#place.get(name, signal));
    };
    return await this.#calls.run(signal, work, value);
  }

  async remove({ name, signal }: RemoveRequest): Promise<void> {
    await this.#calls.run(signal, async () => {
      try {
        await this.#place.delete(name, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        await this.#requirePlace(signal);
      }
    });
  }

  list({ signal }: ListRequest): AsyncIterable<RemoteSecret> {
    return this.#calls.each(signal, () => this.#listAll(signal));
  }

  async count(signal: AbortSignal): Promise<number> {
    return await this.#calls.run(signal, async () => (await this.#place.list(1, 1, signal)).total);
  }

  async close(): Promise<void> {
    this.#calls.close();
  }

  async *#listAll(signal: AbortSignal): AsyncGenerator<RemoteSecret> {
    for (let page = 1; ; page += 1) {
      const { total, secrets } = await this.#place.list(page, PAGE, signal);
      yield* secrets.map(remote);
      if (secrets.length === 0 || page * PAGE >= total) return;
    }
  }

  async #find(name: string, signal: AbortSignal): Promise<RemoteSecret | undefined> {
    try {
      return remote(await this.#place.get(name, signal));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await this.#requirePlace(signal);
      return undefined;
    }
  }

  /** GitHub also says "not found" of places that a token may not see; a secret there may well be standing. */
  async #requirePlace(signal: AbortSignal): Promise<void> {
    try {
      this.#key = await this.#place.publicKey(signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const { message, providerCode, requestId } = translateGithubError(error, new Date(0));
      const text = `the ${this.#place.title} does not exist, or the credentials may not see its secrets (${message})`;
      throw new ClientSideError(text, { providerCode, requestId });
    }
  }
}

function seal(value: string, key: string): string {
  const box = sodium.crypto_box_seal(value, sodium.from_base64(key, sodium.base64_variants.ORIGINAL));
  return sodium.to_base64(box, sodium.base64_variants.ORIGINAL);
}

/** Both times have whole seconds: of two edits in one second GitHub shows one. */
function remote(secret: ListedSecret): RemoteSecret {
  return { name: secret.name, identity: secret.created_at, revision: secret.updated_at, createdAt: new Date(secret.created_at) };
}
