import { expect, test } from '@jest/globals';
import type { EngineHost, EnginePackage, Schedule } from '@strongroom/engine-sdk';
import { killableMount } from '@strongroom/engine-testkit';
import { Type } from 'typebox';
import { Account, accountsEngine, Outside } from './outside.ts';

/** A job as releases before the table stored it. */
const job = { kind: 'rotate-account', entry: Type.Object({ id: Type.String(), target: Type.String() }), run: async () => undefined };

test.each(['of-old', 'of-new'])(
  'a rotation that an older release left open is finished, also where %s is the password outside',
  async (password) => {
    const outside = new Outside();
    outside.passwords.set('a', password);
    const engine = accountsEngine(outside);
    let host: EngineHost | undefined;
    const seen: EnginePackage = { ...engine, create: (given) => engine.create((host = given)) };
    const server = await killableMount(seen);
    const now = server.clock.millis();
    await host!.storage.transaction(async (tx) => {
      await tx.collection('account/', Account).put('a', {
        rotation_period: 3_600,
        rotation_schedule: '',
        rotation_window: 0,
        last_rotation: now - 3_600_000,
        next_rotation: now,
        current: 'of-old',
        pending: { made: 'of-new', begun: now - 200_000, claim: 'of a process that died', until: now - 95_000 },
      });
      await tx.schedule(job satisfies Schedule<typeof job.entry>, 'a', new Date(now), { id: 'a', target: 'outside' });
    });
    expect((await server.read('account/a')).data).toMatchObject({ password, doubtful: false, status: { state: 'unsettled' } });
    await server.pass(60);
    expect(outside.passwords.get('a')).toBe('of-new');
    expect((await server.read('account/a')).data).toMatchObject({
      password: 'of-new',
      previous: 'of-old',
      doubtful: false,
      status: { state: 'waiting', last_error: null },
    });
    expect(outside.changes).toBe(password === 'of-new' ? 0 : 1);
    await server.close();
  },
);
