import { expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { CoreResponse, RequestOperation } from '../../../src/index.ts';
import { countedStorage } from '../../counted-storage.ts';

const LISTS = [
  'identity/entity/id',
  'identity/entity/name',
  'identity/entity-alias/id',
  'identity/group/id',
  'identity/group/name',
  'identity/group-alias/id',
  'sys/policies/acl',
  'sys/policies/detailed/acl',
];
const COUNT = 120;
const PAGE = 7;

test('a page of entities, aliases, groups or policies reads that page alone, and the pages are the list', async () => {
  const { storage, costs } = countedStorage(memoryStorage());
  const core = await checkedCore({ storage, devRootToken: 'root' });
  const root = async (operation: RequestOperation, path: string, data: Record<string, unknown> = {}): Promise<CoreResponse> => {
    const answer = await core.handle({ operation, path, token: 'root', data, remoteAddress: '127.0.0.1' });
    if ((answer.status ?? 200) >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const keysOf = async (path: string, page: Record<string, unknown> = {}): Promise<string[]> =>
    ((await root('list', path, page)).data as { keys: string[] }).keys;
  const accessor = ((await root('read', 'sys/auth')).data as Record<string, { accessor: string }>)['token/']!.accessor;
  for (let made = 0; made < COUNT; made += 1) {
    // In lower case they are in another order.
    const name = made % 2 === 0 ? `name${made}` : `NAME${made}`;
    const { id } = (await root('update', 'identity/entity', { name })).data as { id: string };
    await root('update', 'identity/entity-alias', { name, mount_accessor: accessor, canonical_id: id });
    await root('update', 'identity/group', { name, member_entity_ids: [id] });
    await root('update', 'identity/group-alias', { name: `${name}-outside`, mount_accessor: accessor });
    await root('update', `sys/policies/acl/${name}`, { policy: 'path "x" { capabilities = ["read"] }' });
  }
  for (const path of LISTS) {
    const all = await keysOf(path);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(COUNT);
    const paged: string[] = [];
    for (;;) {
      const page = await keysOf(path, { after: paged.at(-1), limit: PAGE }).catch(() => []);
      paged.push(...page);
      if (page.length < PAGE) break;
    }
    expect(paged).toEqual(all);
    // A group has its record, its name and its one member.
    const middle = await costs(async () => root('list', path, { after: all[COUNT / 2], limit: PAGE }));
    expect(middle.listed).toBeLessThanOrEqual(2 * PAGE);
    expect(middle.gets).toBeLessThanOrEqual(3 * PAGE);
  }
  await core.close();
});
