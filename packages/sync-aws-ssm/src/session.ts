import type { ParameterMetadata, SSM, Tag } from '@aws-sdk/client-ssm';
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
import type { AwsSsmConnection } from './connection.ts';

const PAGE = 50;
/** Whose a parameter is, so that those of a destination can be asked for: tags can be compared as a whole only. */
const DESTINATION_TAG = 'strongroom-destination';

/** The calls that are used. */
export type ParameterClient = Pick<SSM, 'describeParameters' | 'putParameter' | 'addTagsToResource' | 'deleteParameter' | 'destroy'>;

/**
 * Parameters of the type SecureString. The mark is in the description, which is written in one call with the value and comes with every page of a list; the tag
 * with the same text is for people.
 */
export class AwsSsmSession implements DestinationSession {
  readonly #client: ParameterClient;
  readonly #connection: AwsSsmConnection;
  readonly #calls: SessionCalls;

  constructor(client: ParameterClient, connection: AwsSsmConnection, host: DestinationHost) {
    this.#client = client;
    this.#connection = connection;
    const secrets = [connection.secret_access_key, connection.access_key_id];
    this.#calls = new SessionCalls((error) => translateAwsError('AWS Parameter Store', error, host.now()), secrets);
  }

  async read({ name, signal }: ReadRequest): Promise<RemoteSecret | undefined> {
    return await this.#calls.run(signal, async () => {
      const filter = [{ Key: 'Name', Option: 'Equals', Values: [name] }];
      const { Parameters: [found] = [] } = await this.#client.describeParameters({ ParameterFilters: filter }, { abortSignal: signal });
      return found && remote(name, found);
    });
  }

  async put(request: PutRequest): Promise<RemoteSecret> {
    const { current, signal, value } = request;
    return await this.#calls.run(signal, async () => (current ? this.#replace(request) : this.#create(request)), value);
  }

  async #create({ name, value, mark, tags, signal }: PutRequest): Promise<RemoteSecret> {
    try {
      const made = await this.#client.putParameter(
        { ...this.#parameter(name, value, mark), Tags: allTags(tags, mark) },
        { abortSignal: signal },
      );
      return written(name, mark, made.Version);
    } catch (error) {
      if (isRefusal(error, 'ParameterAlreadyExists')) throw new NameTaken(`somebody else has made the parameter ${name} meanwhile`);
      throw error;
    }
  }

  /** AWS takes no tags together with a change. */
  async #replace({ name, value, mark, tags, signal }: PutRequest): Promise<RemoteSecret> {
    const options = { abortSignal: signal };
    const tagged = async () =>
      this.#client.addTagsToResource({ ResourceType: 'Parameter', ResourceId: name, Tags: allTags(tags, mark) }, options);
    const there = await tagged().then(
      () => true,
      (error: unknown) => {
        if (isRefusal(error, 'InvalidResourceId')) return false;
        throw error;
      },
    );
    const { Version } = await this.#client.putParameter({ ...this.#parameter(name, value, mark), Overwrite: true }, options);
    // It was removed before the change, which has made it again.
    if (!there || Version === 1) await tagged();
    return written(name, mark, Version);
  }

  async remove({ name, signal }: RemoveRequest): Promise<void> {
    await this.#calls.run(signal, async () => {
      try {
        await this.#client.deleteParameter({ Name: name }, { abortSignal: signal });
      } catch (error) {
        if (!isRefusal(error, 'ParameterNotFound')) throw error;
      }
    });
  }

  list({ destination, signal }: ListRequest): AsyncIterable<RemoteSecret> {
    return this.#calls.each(signal, () => this.#listOurs(destination, signal));
  }

  async close(): Promise<void> {
    if (this.#calls.close()) this.#client.destroy();
  }

  async *#listOurs(destination: string, signal: AbortSignal): AsyncGenerator<RemoteSecret> {
    const filter = [{ Key: `tag:${DESTINATION_TAG}`, Option: 'Equals', Values: [destination] }];
    let token: string | undefined;
    do {
      const page = await this.#client.describeParameters(
        { ParameterFilters: filter, MaxResults: PAGE, ...(token === undefined ? {} : { NextToken: token }) },
        { abortSignal: signal },
      );
      for (const found of page.Parameters ?? []) {
        if (found.Name === undefined) continue;
        const secret = remote(found.Name, found);
        if (secret.mark?.destination === destination) yield secret;
      }
      token = page.NextToken;
    } while (token !== undefined);
  }

  #parameter(name: string, value: string, mark: PutRequest['mark']) {
    const { kms_key_id, tier } = this.#connection;
    return {
      Name: name,
      Value: value,
      Type: 'SecureString' as const,
      Tier: tier as 'Standard',
      Description: `${DESCRIBED}${formatMark(mark)}`,
      ...(kms_key_id === undefined ? {} : { KeyId: kms_key_id }),
    };
  }
}

const DESCRIBED = 'Written by secret sync. strongroom-owner=';

function allTags(tags: Readonly<Record<string, string>>, mark: PutRequest['mark']): Tag[] {
  const own = { [SYNCED_TAG]: '', [OWNER_TAG]: formatMark(mark), [DESTINATION_TAG]: mark.destination };
  return Object.entries({ ...tags, ...own }).map(([Key, Value]) => ({ Key, Value }));
}

function remote(name: string, { Description = '', Version }: ParameterMetadata): RemoteSecret {
  const mark = Description.startsWith(DESCRIBED) ? parseMark(Description.slice(DESCRIBED.length)) : undefined;
  return { name, ...(mark ? { mark } : {}), ...(Version === undefined ? {} : { revision: String(Version) }) };
}

function written(name: string, mark: PutRequest['mark'], version: number | undefined): RemoteSecret {
  return { name, mark, ...(version === undefined ? {} : { revision: String(version) }) };
}
