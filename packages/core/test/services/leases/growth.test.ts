import { expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import type { CoreResponse, RequestOperation } from '../../../src/index.ts';
import { memoryStorage } from '@strongroom/storage-sdk';
import { countedStorage, type Counts } from '../../counted-storage.ts';

/** What a page of leases, the last page, and their end cost, where there are as many. */
async function costsOf(count: number): Promise<Record<'first' | 'last' | 'revocation', Counts>> {
  const { storage, costs } = countedStorage(memoryStorage());
  const core = await checkedCore({ storage, devRootToken: 'root' });
  const root = async (operation: RequestOperation, path: string, data: Record<string, unknown> = {}): Promise<CoreResponse> => {
    const answer = await core.handle({ operation, path, token: 'root', data, remoteAddress: '127.0.0.1' });
    if ((answer.status ?? 200) >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  for (let at = 0; at < count; at += 1) await root('update', 'auth/token/create-orphan', { policies: ['default'], ttl: '24h' });
  const list = 'sys/leases/lookup/auth/token/create-orphan';
  const { keys } = (await root('list', list)).data as { keys: string[] };
  expect(keys).toHaveLength(count);
  const first = await costs(async () => root('list', list, { limit: 10 }));
  const last = await costs(async () => root('list', list, { after: keys.at(-11)!, limit: 10 }));
  const revocation = await costs(async () => root('update', 'sys/leases/revoke-prefix/auth/token/create-orphan', {}));
  await core.close();
  return { first, last, revocation };
}

test('a page of leases costs the same among many, and a revocation by prefix commits whole batches', async () => {
  for (const count of [60, 200, 600]) {
    const { first, last, revocation } = await costsOf(count);
    expect(first.listed).toBeLessThanOrEqual(256);
    expect(last).toEqual({ gets: 1, ranges: 1, listed: 10, commits: 0 });
    expect(revocation.gets).toBeLessThanOrEqual(2 * count + 10);
    expect(revocation.listed).toBeLessThanOrEqual(count + 10);
    expect(revocation.ranges).toBeLessThanOrEqual(8 + count / 16);
    expect(revocation.commits).toBeLessThanOrEqual(4 + count / 16);
  }
});
