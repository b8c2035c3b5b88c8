import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import fc from 'fast-check';
import { mounted, type MountedAppRole } from './mounted.ts';

/** A driver that notes how often it is read, and which keys are not there. */
function counted(driver: StorageDriver): { readonly driver: StorageDriver; reads(): number } {
  let reads = 0;
  const noting: StorageDriver = {
    name: driver.name,
    shared: driver.shared,
    get: async (key) => {
      reads += 1;
      return driver.get(key);
    },
    range: async (query) => {
      reads += 1;
      return driver.range(query);
    },
    commit: async (change) => driver.commit(change),
    changes: (listener) => driver.changes(listener),
    staleness: () => driver.staleness(),
    close: async () => driver.close(),
  };
  return {
    driver: noting,
    reads: () => {
      const counted = reads;
      reads = 0;
      return counted;
    },
  };
}

describe('who has no secret id', () => {
  const { driver, reads } = counted(memoryStorage());
  let mount: MountedAppRole;
  let roleId: string;
  let expired: string;

  beforeAll(async () => {
    mount = await mounted({ storage: driver });
    // Its work does not depend on the role, but on how many failures there were before.
    await mount.call('update', 'sys/auth/approle/tune', { data: { user_lockout_config: { lockout_disable: true } } });
    roleId = await mount.role('web');
    await mount.secretId('web');
    expired = (await mount.secretId('web', { ttl: '1s' })).secret_id;
    await mount.clock.advance('2s');
  });
  afterAll(async () => mount.close());

  test('learns neither by the answer nor by the work whether a role id exists', async () => {
    const attempt = async (role: string, secret: string): Promise<unknown> => {
      reads();
      const { status, errors, data, headers } = await mount.login(role, secret);
      return { status, errors, data, headers, reads: reads() };
    };
    const wrong = await attempt(roleId, 'wrong');
    expect(wrong).toMatchObject({ status: 400, errors: ['invalid role or secret ID'] });
    expect(await attempt(roleId, expired)).toEqual(wrong);
    const text = fc.string({ unit: 'binary', maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(text, text, async (id, secret) => {
        fc.pre(id.trim() !== '');
        expect(await attempt(id, secret)).toEqual(wrong);
        expect(await attempt(roleId, secret)).toEqual(wrong);
      }),
      { numRuns: 150 },
    );
  });
});
