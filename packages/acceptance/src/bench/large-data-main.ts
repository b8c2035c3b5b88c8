import { approleAuth } from '@strongroom/auth-approle';
import { createCore, type CoreRequest } from '@strongroom/core';
import { kvEngine } from '@strongroom/kv';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import type { LargeData } from './large.ts';

/**
 * Fills a store while no server has it open, by a core that is called directly. Its arguments: the folder of the store, the unseal key and the root token, how much of each kind
 * there is, and how much there is to be. Writes the seconds that each kind took as JSON.
 */
const [folder, key, token, from, to] = process.argv.slice(2) as [string, string, string, string, string];
const [before, after] = [JSON.parse(from) as LargeData, JSON.parse(to) as LargeData];
/** Calls under way at one time. */
const AT_ONCE = 64;

const core = await createCore({ storage: await lmdbStorage({ path: folder }), plugins: [kvEngine, approleAuth] });
await core.unseal(Buffer.from(key, 'base64'));
if (Object.values(before).every((count) => count === 0)) {
  for (const path of ['large', 'bench']) await call(`sys/mounts/${path}`, { type: 'kv', options: { version: '2' } });
  await call('sys/auth/large', { type: 'approle' });
}
const entities: string[] = [];
const makers: Record<keyof LargeData, (index: number) => Promise<unknown>> = {
  policies: (index) => call(`sys/policies/acl/p${index}`, { policy: `path "large/data/${index}" { capabilities = ["read"] }` }),
  mounts: (index) => call(`sys/mounts/m${index}`, { type: 'kv' }),
  roles: (index) => call(`auth/large/role/r${index}`, { token_policies: `p${index}`, token_ttl: '1h' }),
  entities: async (index) => {
    const { id } = (await call('identity/entity', { name: `e${index}`, policies: `p${index % 100}` })) as { id: string };
    if (entities.length < 1_000) entities.push(id);
  },
  groups: (index) =>
    call('identity/group', {
      name: `g${index}`,
      member_entity_ids: Array.from({ length: 10 }, (_, at) => entities[(index + at) % entities.length]),
    }),
  secrets: (index) => call(`large/data/s${index}`, { data: { password: `secret-${index}` } }),
  leases: () => call('auth/token/create-orphan', { policies: ['default'], ttl: '24h' }),
};
const seconds: Partial<Record<keyof LargeData, number>> = {};
for (const [kind, make] of Object.entries(makers) as [keyof LargeData, (index: number) => Promise<unknown>][]) {
  const began = performance.now();
  let next = before[kind];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < after[kind]) {
        next += 1;
        await make(next - 1);
      }
    }),
  );
  seconds[kind] = (performance.now() - began) / 1_000;
}
await core.close();
process.stdout.write(JSON.stringify(seconds));
process.exit(0);

/** @throws Error where the answer is not a success */
async function call(path: string, data: NonNullable<CoreRequest['data']>): Promise<unknown> {
  const answer = await core.handle({ operation: 'update', path, token, data });
  if (answer.status !== undefined && answer.status >= 400) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.errors)}`);
  return answer.data;
}
