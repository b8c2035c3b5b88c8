import { isDeepStrictEqual } from 'node:util';
import type { protos } from '@google-cloud/secret-manager';
import {
  type DestinationHost,
  type DestinationSession,
  formatMark,
  type ListRequest,
  NameTaken,
  OWNER_TAG,
  type OwnershipMark,
  parseMark,
  type PutRequest,
  type ReadRequest,
  type RemoteSecret,
  type RemoveRequest,
  SessionCalls,
} from '@strongroom/sync-sdk';
import type { Line, SecretManagerChannel } from './channel.ts';
import { crc32c } from './crc32c.ts';
import { LookupPace } from './lookup-pace.ts';
import { grpcCode, translateGoogleError } from './provider-error.ts';
import type { Replication } from './replication.ts';
import { UnfinishedList } from './unfinished-list.ts';

type Secret = protos.google.cloud.secretmanager.v1.ISecret;
type Version = protos.google.cloud.secretmanager.v1.ISecretVersion;
type Labels = Readonly<Record<string, string>>;

/** Labels take no ":", so the tag of synced secrets is one label with a value here. */
const SYNCED_LABELS: Labels = { hashicorp: 'vault' };
const PAGE = 100;
/** Versions that are looked up at once while listing. */
const AT_ONCE = 10;

export class GcpSmSession implements DestinationSession {
  readonly #channel: SecretManagerChannel;
  readonly #replication: Replication;
  readonly #calls: SessionCalls;
  readonly #lookups = new LookupPace();
  readonly #unfinished: UnfinishedList<Version>;

  constructor(
    channel: SecretManagerChannel,
    replication: Replication,
    host: DestinationHost,
    credentials: readonly (string | undefined)[],
  ) {
    this.#channel = channel;
    this.#replication = replication;
    this.#unfinished = new UnfinishedList(() => host.now());
    this.#calls = new SessionCalls((error) => {
      if (grpcCode(error) === 'UNAVAILABLE') void this.#channel.drop();
      return translateGoogleError(error, host.now());
    }, credentials);
  }

  async read({ name, signal }: ReadRequest): Promise<RemoteSecret | undefined> {
    return await this.#calls.run(signal, async () => {
      const line = await this.#channel.line(signal);
      const secret = await find(line, name);
      return secret === undefined ? undefined : remote(name, secret, await findVersion(line, name));
    });
  }

  /** The label of the owner comes first, the value last. */
  async put(request: PutRequest): Promise<RemoteSecret> {
    const { name, value, signal } = request;
    const work = async (): Promise<RemoteSecret> => {
      const line = await this.#channel.line(signal);
      const secret = await this.#own(line, request, await find(line, name));
      const data = Buffer.from(value, 'utf8');
      signal.throwIfAborted();
      const [version] = await line.client.addSecretVersion(
        { parent: path(line, name), payload: { data, dataCrc32c: crc32c(data) } },
        line.options(),
      );
      this.#unfinished.forget(name);
      return remote(name, secret, version);
    };
    return await this.#calls.run(signal, work, value);
  }

  async remove({ name, current, signal }: RemoveRequest): Promise<void> {
    await this.#calls.run(signal, async () => {
      const line = await this.#channel.line(signal);
      const secret = await find(line, name);
      if (secret === undefined) return;
      if (!sameMark(markOf(secret), current.mark)) throw new NameTaken(`somebody else has written the secret ${name} meanwhile`);
      await refusedAs(name, async () => {
        await absentAsUndefined(() => line.client.deleteSecret({ name: path(line, name), etag: secret.etag ?? '' }, line.options()));
      });
    });
  }

  list({ destination, signal }: ListRequest): AsyncIterable<RemoteSecret> {
    return this.#calls.each(signal, () => this.#listOurs(destination, signal));
  }

  async close(): Promise<void> {
    if (this.#calls.close()) await this.#channel.drop();
  }

  /** The secret under the name, made or labelled as ours. */
  async #own(line: Line, request: PutRequest, found: Secret | undefined): Promise<Secret> {
    const { name, mark, tags, current } = request;
    const labels = { ...found?.labels, ...tags, ...SYNCED_LABELS, [OWNER_TAG]: formatMark(mark) };
    return await refusedAs(name, async () => {
      if (found === undefined) {
        const secret = { replication: this.#replication, labels };
        return (await line.client.createSecret({ parent: line.parent, secretId: name, secret }, line.options()))[0];
      }
      const there = markOf(found);
      const expected =
        current === undefined ? sameMark(there, mark) && there !== undefined : sameMark(there, current.mark) || sameMark(there, mark);
      if (!expected) throw new NameTaken(`somebody else has written the secret ${name} meanwhile`);
      if (isDeepStrictEqual({ ...found.labels }, labels)) return found;
      const secret = { name: path(line, name), labels, etag: found.etag ?? '' };
      return (await line.client.updateSecret({ secret, updateMask: { paths: ['labels'] } }, line.options()))[0];
    });
  }

  /** Lists tell no versions, so ours are looked up, some at a time. */
  async *#listOurs(destination: string, signal: AbortSignal): AsyncGenerator<RemoteSecret> {
    const line = await this.#channel.line(signal);
    for (let pageToken = ''; ;) {
      const request = { parent: line.parent, filter: `labels.${OWNER_TAG}:*`, pageSize: PAGE, pageToken };
      const [secrets, , answer] = await line.client.listSecrets(request, { ...line.options(), autoPaginate: false });
      const ours = secrets.filter((secret) => markOf(secret)?.destination === destination);
      for (let from = 0; from < ours.length; from += AT_ONCE) {
        const batch = ours.slice(from, from + AT_ONCE).map((secret) => {
          const name = secret.name!.split('/').at(-1)!;
          return { name, secret, known: this.#unfinished.of(name) };
        });
        await this.#lookups.take(batch.filter(({ known }) => !known).length, signal);
        const some = batch.map(async ({ name, secret, known }) =>
          remote(name, secret, known ? known.version : await this.#lookUp(line, name)),
        );
        yield* await Promise.all(some);
      }
      pageToken = answer?.nextPageToken ?? '';
      if (pageToken === '') break;
    }
    this.#unfinished.finish();
  }

  async #lookUp(line: Line, name: string): Promise<Version | undefined> {
    const version = await findVersion(line, name);
    this.#unfinished.add(name, version);
    return version;
  }
}

const path = (line: Line, name: string): string => `${line.parent}/secrets/${name}`;

async function find(line: Line, name: string): Promise<Secret | undefined> {
  const answer = await absentAsUndefined(() => line.client.getSecret({ name: path(line, name) }, line.options()));
  return answer?.[0];
}

/** The newest version; undefined for a secret that has none. */
async function findVersion(line: Line, name: string): Promise<Version | undefined> {
  const latest = { name: `${path(line, name)}/versions/latest` };
  const answer = await absentAsUndefined(() => line.client.getSecretVersion(latest, line.options()));
  return answer?.[0];
}

const markOf = (secret: Secret): OwnershipMark | undefined => parseMark(secret.labels?.[OWNER_TAG]);

const sameMark = (one: OwnershipMark | undefined, other: OwnershipMark | undefined): boolean =>
  (one && formatMark(one)) === (other && formatMark(other));

/** A version that cannot be accessed shows in the revision: whoever disabled or destroyed it has taken our value away. */
function remote(name: string, secret: Secret, version: Version | undefined): RemoteSecret {
  const mark = markOf(secret);
  const made = secret.createTime;
  const createdAt = made ? new Date(Number(made.seconds) * 1000 + Math.floor(Number(made.nanos ?? 0) / 1e6)) : undefined;
  const number = version?.name?.split('/').at(-1);
  const state = ['ENABLED', '1'].includes(String(version?.state)) ? '' : ` (${String(version?.state).toLowerCase()})`;
  return {
    name,
    ...(mark !== undefined && { mark }),
    ...(made && { identity: `${made.seconds}.${String(made.nanos ?? 0).padStart(9, '0')}` }),
    ...(number !== undefined && { revision: `${number}${state}` }),
    ...(createdAt !== undefined && { createdAt }),
  };
}

async function absentAsUndefined<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (grpcCode(error) === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** A name that was taken, or an etag that was replaced, between our look and our write. */
async function refusedAs<T>(name: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const code = grpcCode(error);
    const overtaken =
      code === 'ALREADY_EXISTS' || code === 'ABORTED' || (code === 'FAILED_PRECONDITION' && /etag/i.test((error as Error).message));
    if (overtaken) throw new NameTaken(`somebody else has written the secret ${name} meanwhile`, { providerCode: code });
    throw error;
  }
}
