import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BadRequest, type Transaction } from '@strongroom/engine-sdk';
import { killableMount, mountForTest, type KillableMount, type TestMount } from '@strongroom/engine-testkit';
import { Type } from 'typebox';
import { gateLogin } from './gate-engine.ts';

const Uses = Type.Object({ left: Type.Number() });

/** Takes one of five uses. */
async function consume(tx: Transaction): Promise<void> {
  const uses = tx.collection('uses/', Uses);
  const { left } = (await uses.get('all')) ?? { left: 5 };
  if (left === 0) throw new BadRequest('no use is left');
  await uses.put('all', { left: left - 1 });
}

describe('what a login consumes', () => {
  const { plugin, grant } = gateLogin();
  let mount: TestMount;
  const login = async (): Promise<number> => (await mount.call('update', 'auth/gate/login', { data: {}, token: '' })).status;
  const tokens = async (server: Pick<TestMount, 'call'>): Promise<number> => {
    const { data } = await server.call('list', 'auth/token/accessors');
    return (data as { keys: string[] }).keys.length - 1;
  };

  beforeEach(async () => {
    grant.terms = {};
    grant.consume = consume;
    mount = await mountForTest(plugin);
  });
  afterEach(async () => mount.close());

  test.each(['service', 'batch'] as const)('is consumed once for each %s token, however many logins run at once', async (type) => {
    grant.terms = { type };
    const statuses = await Promise.all(Array.from({ length: 30 }, login));
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 400)).toHaveLength(25);
    expect(await tokens(mount)).toBe(type === 'service' ? 5 : 0);
  });

  test('is consumed with the token or not at all, at whatever commit the process dies', async () => {
    for (let commits = 0; ; commits += 1) {
      let server: KillableMount = await killableMount(plugin);
      server.storage.dieAfter(commits);
      const died = await server.diesIn(server.call('update', 'auth/gate/login', { data: {}, token: '' }));
      server = await server.restart();
      const made = await tokens(server);
      let left = 0;
      while ((await server.call('update', 'auth/gate/login', { data: {}, token: '' })).status === 200) left += 1;
      expect({ commits, uses: made + left }).toEqual({ commits, uses: 5 });
      await server.close();
      if (!died) break;
    }
  });

  test('a display name that is left empty makes the mount name the display name', async () => {
    grant.displayName = '';
    const { auth } = await mount.call('update', 'auth/gate/login', { data: {}, token: '' });
    delete grant.displayName;
    const self = await mount.call('read', 'auth/token/lookup-self', { token: auth?.client_token ?? '' });
    expect(self.data).toMatchObject({ display_name: 'gate' });
  });
});
