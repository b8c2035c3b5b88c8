import type { DescribeSecretResponse, SecretListEntry, SecretsManager, Tag } from '@aws-sdk/client-secrets-manager';
import { isRefusal, translateAwsError } from '@strongroom/sync-aws';
import {
  formatMark,
  NameTaken,
  OWNER_TAG,
  parseMark,
  SessionCalls,
  SYNCED_TAG,
  type DestinationHost,
  type DestinationSession,
  type ListRequest,
  type PutRequest,
  type ReadRequest,
  type RemoteSecret,
  type RemoveRequest,
} from '@strongroom/sync-sdk';
import type { AwsSmConnection } from './connection.ts';

const PAGE = 100;
const REPLICATED = /replica/i;
const SCHEDULED = /scheduled for deletion|marked (for deletion|deleted)/i;

/** The calls that are used. */
export type SecretsClient = Pick<
  SecretsManager,
  | 'describeSecret'
  | 'createSecret'
  | 'putSecretValue'
  | 'updateSecret'
  | 'tagResource'
  | 'restoreSecret'
  | 'deleteSecret'
  | 'listSecrets'
  | 'replicateSecretToRegions'
  | 'removeRegionsFromReplication'
  | 'destroy'
>;

export class AwsSmSession implements DestinationSession {
  readonly #client: SecretsClient;
  readonly #connection: AwsSmConnection;
  readonly #calls: SessionCalls;

  constructor(client: SecretsClient, connection: AwsSmConnection, host: DestinationHost) {
    this.#client = client;
    this.#connection = connection;
    const secrets = [connection.secret_access_key, connection.access_key_id];
    this.#calls = new SessionCalls((error) => translateAwsError('AWS Secrets Manager', error, host.now()), secrets);
  }

  async read({ name, signal }: ReadRequest): Promise<RemoteSecret | undefined> {
    return await this.#calls.run(signal, async () => {
      const found = await this.#describe(name, signal);
      return found && remote(name, found, found.VersionIdsToStages);
    });
  }

  async put(request: PutRequest): Promise<RemoteSecret> {
    const { current, signal, value } = request;
    return await this.#calls.run(signal, async () => (current ? this.#replace(request, current) : this.#create(request)), value);
  }

  /** The operation's id is the version's, so that a repeated call makes no second version. */
  async #create({ name, value, mark, tags, operationId, signal }: PutRequest): Promise<RemoteSecret> {
    const { kms_key_id } = this.#connection;
    const replicas = this.#replicas();
    try {
      const made = await this.#client.createSecret(
        {
          Name: name,
          SecretString: value,
          ClientRequestToken: operationId,
          Tags: allTags(tags, formatMark(mark)),
          ...(kms_key_id === undefined ? {} : { KmsKeyId: kms_key_id }),
          ...(replicas.length > 0 ? { AddReplicaRegions: replicas } : {}),
        },
        { abortSignal: signal },
      );
      return written(name, mark, made);
    } catch (error) {
      if (isRefusal(error, 'ResourceExistsException') || isRefusal(error, 'InvalidRequestException', SCHEDULED)) {
        throw new NameTaken(`somebody else has made the secret ${name} meanwhile`);
      }
      throw error;
    }
  }

  /** Tags before the value: at no moment does a secret hold our value without our mark. */
  async #replace({ name, value, mark, tags, operationId, signal }: PutRequest, current: RemoteSecret): Promise<RemoteSecret> {
    const options = { abortSignal: signal };
    const { kms_key_id } = this.#connection;
    if (current.softDeleted) await this.#client.restoreSecret({ SecretId: name }, options);
    await this.#client.tagResource({ SecretId: name, Tags: allTags(tags, formatMark(mark)) }, options);
    const change = { SecretId: name, SecretString: value, ClientRequestToken: operationId };
    const made =
      kms_key_id === undefined
        ? await this.#client.putSecretValue(change, options)
        : await this.#client.updateSecret({ ...change, KmsKeyId: kms_key_id }, options);
    await this.#addReplicas(name, signal);
    return written(name, mark, made);
  }

  async remove({ name, signal }: RemoveRequest): Promise<void> {
    const { recovery_window_in_days: days } = this.#connection;
    await this.#calls.run(signal, async () => {
      const how = days === 0 ? { ForceDeleteWithoutRecovery: true } : { RecoveryWindowInDays: days };
      const drop = async () => this.#client.deleteSecret({ SecretId: name, ...how }, { abortSignal: signal });
      try {
        await drop();
      } catch (error) {
        if (isRefusal(error, 'ResourceNotFoundException') || isRefusal(error, 'InvalidRequestException', SCHEDULED)) return;
        // A secret with replicas cannot be deleted. It may have some that the connection does not name any more.
        const copies = isRefusal(error, /^Invalid(Request|Parameter)Exception$/, REPLICATED) ? await this.#regions(name, signal) : [];
        if (copies.length === 0) throw error;
        await this.#client.removeRegionsFromReplication({ SecretId: name, RemoveReplicaRegions: copies }, { abortSignal: signal });
        await drop();
      }
    });
  }

  list({ destination, signal }: ListRequest): AsyncIterable<RemoteSecret> {
    return this.#calls.each(signal, () => this.#listOurs(destination, signal));
  }

  async close(): Promise<void> {
    if (this.#calls.close()) this.#client.destroy();
  }

  /** Filters match beginnings, and the mark begins with the destination. */
  async *#listOurs(destination: string, signal: AbortSignal): AsyncGenerator<RemoteSecret> {
    const filters = [
      { Key: 'tag-key' as const, Values: [OWNER_TAG] },
      { Key: 'tag-value' as const, Values: [`${destination}_`] },
    ];
    let token: string | undefined;
    do {
      const page = await this.#client.listSecrets(
        { Filters: filters, MaxResults: PAGE, ...(token === undefined ? {} : { NextToken: token }) },
        { abortSignal: signal },
      );
      for (const entry of page.SecretList ?? []) {
        if (markOf(entry.Tags)?.destination !== destination || entry.Name === undefined) continue;
        const secret = remote(entry.Name, entry, entry.SecretVersionsToStages);
        if (!secret.softDeleted) yield secret;
      }
      token = page.NextToken;
    } while (token !== undefined);
  }

  async #describe(name: string, signal: AbortSignal): Promise<DescribeSecretResponse | undefined> {
    try {
      return await this.#client.describeSecret({ SecretId: name }, { abortSignal: signal });
    } catch (error) {
      if (isRefusal(error, 'ResourceNotFoundException')) return undefined;
      throw error;
    }
  }

  async #regions(name: string, signal: AbortSignal): Promise<string[]> {
    const found = await this.#describe(name, signal);
    return (found?.ReplicationStatus ?? []).flatMap(({ Region }) => Region ?? []);
  }

  /** Of regions that were added to the connection after the secret was made. */
  async #addReplicas(name: string, signal: AbortSignal): Promise<void> {
    const replicas = this.#replicas();
    if (replicas.length === 0) return;
    const there = await this.#regions(name, signal);
    const missing = replicas.filter(({ Region }) => !there.includes(Region));
    if (missing.length === 0) return;
    await this.#client.replicateSecretToRegions({ SecretId: name, AddReplicaRegions: missing }, { abortSignal: signal });
  }

  #replicas(): { Region: string; KmsKeyId?: string }[] {
    return Object.entries(this.#connection.replica_regions ?? {}).map(([Region, key]) => ({
      Region,
      ...(key === '' ? {} : { KmsKeyId: key }),
    }));
  }
}

function allTags(tags: Readonly<Record<string, string>>, mark: string): Tag[] {
  return Object.entries({ ...tags, [SYNCED_TAG]: '', [OWNER_TAG]: mark }).map(([Key, Value]) => ({ Key, Value }));
}

function markOf(tags: readonly Tag[] | undefined) {
  return parseMark(tags?.find(({ Key }) => Key === OWNER_TAG)?.Value);
}

function remote(
  name: string,
  found: DescribeSecretResponse | SecretListEntry,
  versions: Readonly<Record<string, string[]>> | undefined,
): RemoteSecret {
  const mark = markOf(found.Tags);
  const revision = Object.entries(versions ?? {}).find(([, stages]) => stages.includes('AWSCURRENT'))?.[0];
  return {
    name,
    ...(mark ? { mark } : {}),
    ...(found.ARN === undefined ? {} : { identity: found.ARN }),
    ...(revision === undefined ? {} : { revision }),
    ...(found.CreatedDate === undefined ? {} : { createdAt: found.CreatedDate }),
    ...(found.DeletedDate === undefined ? {} : { softDeleted: true }),
  };
}

function written(
  name: string,
  mark: PutRequest['mark'],
  made: { readonly ARN?: string | undefined; readonly VersionId?: string | undefined },
): RemoteSecret {
  return {
    name,
    mark,
    ...(made.ARN === undefined ? {} : { identity: made.ARN }),
    ...(made.VersionId === undefined ? {} : { revision: made.VersionId }),
  };
}
