import { describe, expect, test } from '@jest/globals';
import type { CoreResponse } from '@strongroom/core';
import { killableMount, manualClock, sharedMemory, type KillableMount } from '@strongroom/engine-testkit';
import { approleAuth } from '../src/index.ts';
import { mounted, withShortcuts, type MountedAppRole } from './mounted.ts';

const won = (answers: readonly CoreResponse[]): number => answers.filter(({ status }) => status === 200).length;

/** Tokens of logins: all but the root token. */
async function tokens(mount: MountedAppRole): Promise<number> {
  const { data } = await mount.call('list', 'auth/token/accessors');
  return (data as { keys: string[] }).keys.length - 1;
}

describe('the uses of a secret id', () => {
  test.each([
    [1, 'service'],
    [1, 'batch'],
    [7, 'service'],
    [7, 'batch'],
  ] as const)('100 logins at once with a secret id of %d uses give that many %s tokens', async (uses, token_type) => {
    const mount = await mounted();
    const roleId = await mount.role('web', { token_type });
    const { secret_id } = await mount.secretId('web', { num_uses: uses });
    const answers = await Promise.all(Array.from({ length: 100 }, async (_, i) => mount.login(roleId, secret_id, `10.0.0.${i}`)));
    expect(won(answers)).toBe(uses);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.flatMap(({ errors }) => errors))).toEqual(new Set(['invalid role or secret ID']));
    expect(await mount.accessors('web')).toEqual([]);
    await mount.close();
  });

  test('two servers on one store give one token for a secret id of one use', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const first = await mounted({ storage: store.open(), clock });
    const second = await mounted({ storage: store.open(), clock });
    const roleId = await first.role('web');
    for (let round = 0; round < 5; round += 1) {
      const { secret_id } = await first.secretId('web', { num_uses: 1 });
      const answers = await Promise.all(
        Array.from({ length: 100 }, async (_, i) => (i % 2 === 0 ? first : second).login(roleId, secret_id, `10.0.${round}.${i}`)),
      );
      expect(won(answers)).toBe(1);
    }
    expect(await tokens(second)).toBe(5);
    await first.close();
    await second.close();
  });

  test('a lookup shows what is left, and takes nothing', async () => {
    const mount = await mounted();
    const roleId = await mount.role('web', { secret_id_num_uses: 3 });
    const { secret_id } = await mount.secretId('web');
    expect(await mount.lookup('web', secret_id)).toMatchObject({ secret_id_num_uses: 3 });
    await mount.clock.advance('1m');
    await mount.login(roleId, secret_id);
    const seen = await mount.lookup('web', secret_id);
    expect(seen).toMatchObject({ secret_id_num_uses: 2 });
    expect(seen!['last_updated_time']).not.toBe(seen!['creation_time']);
    await mount.close();
  });

  test('a login that is refused for its address takes no use', async () => {
    const mount = await mounted();
    const roleId = await mount.role('web', { token_bound_cidrs: '10.0.0.0/8' });
    const { secret_id } = await mount.secretId('web', { num_uses: 1, cidr_list: '10.0.0.0/9' });
    expect((await mount.login(roleId, secret_id, '192.0.2.1')).status).toBe(400);
    expect((await mount.login(roleId, secret_id, '10.0.0.1')).status).toBe(200);
    await mount.close();
  });

  test.each(['service', 'batch'] as const)(
    'a server that dies at any commit of a login has taken the use and stored the %s token, or neither',
    async (token_type) => {
      for (let commits = 0; ; commits += 1) {
        let server = withShortcuts(await killableMount(approleAuth));
        const roleId = await server.role('web', { token_type, secret_id_ttl: '1h' });
        const { secret_id } = await server.secretId('web', { num_uses: 2 });
        server.storage.dieAfter(commits);
        const answered = server.login(roleId, secret_id);
        const died = await server.diesIn(answered);
        server = withShortcuts<KillableMount>(await server.restart());
        const left = ((await server.lookup('web', secret_id)) ?? { secret_id_num_uses: 0 })['secret_id_num_uses'] as number;
        // A batch token that was not answered is nowhere.
        const given = token_type === 'service' ? await tokens(server) : died ? 0 : 1;
        const later = won([
          await server.login(roleId, secret_id),
          await server.login(roleId, secret_id),
          await server.login(roleId, secret_id),
        ]);
        expect({ commits, left, later }).toEqual({ commits, left: 2 - given, later: left });
        await server.close();
        if (!died) return;
      }
    },
  );

  test('a server that dies in 20 logins at once on two uses never gives a third token, and loses no use', async () => {
    for (let commits = 0; ; commits += 1) {
      let server = withShortcuts(await killableMount(approleAuth));
      const roleId = await server.role('web');
      const { secret_id } = await server.secretId('web', { num_uses: 2 });
      server.storage.dieAfter(commits);
      const died = await server.diesIn(
        Promise.all(Array.from({ length: 20 }, async (_, i) => server.login(roleId, secret_id, `10.0.0.${i}`))),
      );
      server = withShortcuts<KillableMount>(await server.restart());
      const before = await tokens(server);
      const after = won(await Promise.all(Array.from({ length: 20 }, async (_, i) => server.login(roleId, secret_id, `10.0.1.${i}`))));
      expect({ commits, uses: before + after }).toEqual({ commits, uses: 2 });
      await server.close();
      if (!died) return;
    }
  });
});
