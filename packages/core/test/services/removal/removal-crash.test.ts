import { describe, expect, test } from '@jest/globals';
import { killableMount, type KillableMount } from '@strongroom/engine-testkit';
import { Outside, testEngine } from '../../test-engine.ts';

/** More than any removal here commits. */
const MOST = 80;

interface Scene {
  readonly outside: Outside;
  readonly mount: KillableMount;
  readonly hooks: NonNullable<Parameters<typeof testEngine>[1]>;
}

async function scene(): Promise<Scene> {
  const outside = new Outside();
  const hooks: Scene['hooks'] = { outside: async () => [{ kind: 'root credential', name: 'admin' }] };
  const mount = await killableMount(testEngine(outside, hooks), { path: 'acc' });
  await mount.write('roles/r', { ttl: '10h' });
  await mount.read('creds/r');
  await mount.read('creds/r');
  await mount.write('ticks/a', { after: '1d' });
  return { outside, mount, hooks };
}

describe('the process ends at any commit of a removal', () => {
  test('an unmount is finished after the restart, and takes everything back once', async () => {
    let died = 0;
    for (let commits = 0; commits < MOST; commits += 1) {
      const { outside, mount } = await scene();
      const uuid = ((await mount.ask('read', 'sys/mounts/acc')).data as { uuid: string }).uuid;
      mount.storage.dieAfter(commits);
      const dead = await mount.diesIn(mount.ask('delete', 'sys/mounts/acc'));
      const heir = await mount.restart();
      // `killableMount` mounts its engine at a path where there is none: the removed one is named by its uuid.
      const before = (await heir.ask('read', 'sys/mounts/acc')).data as { uuid: string; removing?: object };
      const begun = before.uuid !== uuid || before.removing !== undefined;
      await heir.pass(900);
      const now = (await heir.ask('read', 'sys/mounts/acc')).data as { uuid?: string } | null;
      if (begun) {
        expect({ commits, uuid: now?.uuid === uuid }).toEqual({ commits, uuid: false });
        expect({ commits, users: [...outside.users] }).toEqual({ commits, users: [] });
        expect((await heir.ask('read', 'sys/removals')).data).toMatchObject({ removing: {}, removed: [{ path: 'acc/', count: 1 }] });
        expect({ commits, keys: (await keysOf(heir)).filter((key) => key.includes(uuid) || key.startsWith('lease/acc/creds')) }).toEqual({
          commits,
          keys: [],
        });
      } else {
        // Nothing was answered and nothing is begun: the mount is as it was.
        expect({ commits, uuid: now?.uuid }).toEqual({ commits, uuid });
        expect(outside.users.size).toBe(2);
      }
      await heir.close();
      if (!dead) break;
      died += 1;
    }
    expect(died).toBeGreaterThan(6);
    expect(died).toBeLessThan(MOST);
  }, 120_000);

  test('a forced removal is finished after the restart, and its list is not lost', async () => {
    let died = 0;
    for (let commits = 0; commits < MOST; commits += 1) {
      const { outside, mount } = await scene();
      const uuid = ((await mount.ask('read', 'sys/mounts/acc')).data as { uuid: string }).uuid;
      outside.failing.add('one');
      mount.storage.dieAfter(commits);
      const dead = await mount.diesIn(mount.ask('delete', 'sys/mounts/acc', { force: true }));
      const heir = await mount.restart();
      await heir.pass(900);
      const now = (await heir.ask('read', 'sys/mounts/acc')).data as { uuid?: string; removing?: object } | null;
      const { removing, removed } = (await heir.ask('read', 'sys/removals')).data as { removing: object; removed: { forced: boolean }[] };
      if (now?.uuid !== uuid) {
        // Decided: whatever was let go of is in the list.
        expect({ commits, removed }).toMatchObject({ removed: [{ path: 'acc/', forced: true, count: 3 }] });
        expect(removing).toEqual({});
        expect((await keysOf(heir)).filter((key) => key.includes(uuid) || key.startsWith('lease/acc/creds'))).toEqual([]);
      } else {
        // Not decided: it goes on as an unmount that the outside system holds up, or was not begun.
        expect({ commits, removed }).toEqual({ commits, removed: [] });
        expect(outside.users.size).toBe(2);
      }
      await heir.close();
      if (!dead) break;
      died += 1;
    }
    expect(died).toBeGreaterThan(6);
    expect(died).toBeLessThan(MOST);
  }, 120_000);
});

async function keysOf(heir: KillableMount): Promise<string[]> {
  return (await heir.storage.range({ keysOnly: true })).map(({ key }) => key);
}
