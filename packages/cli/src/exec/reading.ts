import type { ApiClient } from '../client.ts';
import { resolveKv } from '../kv-path.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { isRecord, type JsonRecord } from '../json.ts';
import type { Secret } from '../secret.ts';
import { variablesOf } from './variables.ts';
import type { WantedSecret } from './wanted-secret.ts';

/** A lease that a read brought. Seconds. */
export interface Lease {
  readonly id: string;
  readonly path: string;
  readonly seconds: number;
  readonly renewable: boolean;
}

/** What a child process gets, and what has to be renewed while it runs. */
export interface Reading {
  readonly variables: Readonly<Record<string, string>>;
  readonly leases: readonly Lease[];
}

/** Reads every secret once. Where one cannot be had, the leases of those before it are given to `release`. */
export async function readSecrets(
  client: ApiClient,
  wanted: readonly WantedSecret[],
  prefix: string,
  release: (leases: readonly Lease[]) => Promise<void>,
): Promise<Reading> {
  const variables: Record<string, string> = Object.create(null) as Record<string, string>;
  const owner = new Map<string, WantedSecret>();
  const leases: Lease[] = [];
  // One credential for all fields that are asked of one path: a second read would make a second user.
  const known = new Map<string, JsonRecord>();
  try {
    for (const one of wanted) {
      let data = known.get(one.path);
      if (data === undefined) {
        const { secret, content } = await readOne(client, one.path);
        data = content;
        known.set(one.path, data);
        if (secret.lease_id !== '') {
          leases.push({ id: secret.lease_id, path: one.path, seconds: secret.lease_duration, renewable: secret.renewable });
        }
      }
      for (const [name, value] of Object.entries(variablesOf(one, data, prefix))) {
        const other = owner.get(name);
        if (other)
          throw new Failure(`-secret=${other.text} and -secret=${one.text} both set ${name}: name one of them, as in NAME=path#field`);
        owner.set(name, one);
        variables[name] = value;
      }
    }
  } catch (error) {
    await release(leases);
    throw error;
  }
  return { variables, leases };
}

async function readOne(client: ApiClient, path: string): Promise<{ secret: Secret; content: JsonRecord }> {
  const kv = await doing(`Error reading ${path}`, resolveKv(client, path, undefined));
  const secret = await doing(`Error reading ${path}`, client.read(kv.at('data')));
  const content = kv.version === 2 ? secret?.data?.['data'] : secret?.data;
  if (secret === undefined || !isRecord(content)) throw new Failure(`No value found at ${path}`, EXIT.remote);
  return { secret, content };
}
