import { describe, expect, jest, test } from '@jest/globals';
import { killableMount, manualClock, mountForTest, sharedMemory, type KillableMount } from '@strongroom/engine-testkit';
import { transitEngine } from '../src/index.ts';

jest.setTimeout(120_000);

const plaintext = Buffer.from('kept').toString('base64');
const OPEN = { exportable: true, allow_plaintext_backup: true };

describe('a server that dies while it changes a key', () => {
  const done = async (server: KillableMount, ...call: Parameters<KillableMount['ask']>): Promise<Record<string, unknown>> => {
    const { status, errors, data } = await server.ask(...call);
    expect({ call: call[1], errors, failed: status >= 400 }).toEqual({ call: call[1], errors: undefined, failed: false });
    return data as Record<string, unknown>;
  };

  /** What every change leaves: a key that can be read, and whose versions all decrypt what they encrypted. */
  const sound = async (server: KillableMount, ciphertexts: readonly unknown[]): Promise<number> => {
    const { latest_version: latest, min_available_version: least } = await done(server, 'read', 'transit/keys/k');
    for (const [index, ciphertext] of ciphertexts.entries()) {
      if (index + 1 < Number(least)) continue;
      expect(await done(server, 'update', 'transit/decrypt/k', { ciphertext })).toEqual({ plaintext });
    }
    const { ciphertext } = await done(server, 'update', 'transit/encrypt/k', { plaintext });
    expect(String(ciphertext)).toMatch(new RegExp(`^vault:v${String(latest)}:`));
    expect(await done(server, 'update', 'transit/decrypt/k', { ciphertext })).toEqual({ plaintext });
    return Number(latest);
  };

  test.each([
    ['rotates it', 'update', 'transit/keys/k/rotate', {}],
    ['trims it', 'update', 'transit/keys/k/trim', { min_available_version: 2 }],
    ['changes its settings', 'update', 'transit/keys/k/config', { deletion_allowed: true }],
    ['backs it up', 'read', 'transit/backup/k', {}],
    ['quarantines it', 'delete', 'transit/keys/k/soft-delete', {}],
  ] as const)('%s: it is as before or as asked, and nothing it encrypted is lost', async (_what, operation, path, data) => {
    for (let commits = 0, died = true; died; commits += 1) {
      expect(commits).toBeLessThan(5);
      let server = await killableMount(transitEngine, { clock: manualClock(new Date()) });
      await done(server, 'update', 'transit/keys/k', OPEN);
      const first = (await done(server, 'update', 'transit/encrypt/k', { plaintext }))['ciphertext'];
      await done(server, 'update', 'transit/keys/k/rotate');
      const second = (await done(server, 'update', 'transit/encrypt/k', { plaintext }))['ciphertext'];
      await done(server, 'update', 'transit/keys/k/config', { min_decryption_version: 2, min_encryption_version: 2 });
      server.storage.dieAfter(commits);
      died = await server.diesIn(server.ask(operation, path, data));
      server = await server.restart();
      const { soft_deleted: quarantined } = await done(server, 'read', 'transit/keys/k');
      if (quarantined === true) await done(server, 'update', 'transit/keys/k/soft-delete-restore');
      const { min_available_version: least } = await done(server, 'read', 'transit/keys/k');
      if (least === 0) await done(server, 'update', 'transit/keys/k/config', { min_decryption_version: 1 });
      await sound(server, [first, second]);
      await server.close();
    }
  });

  test('restores over it: the old key is whole, or the one of the backup', async () => {
    for (let commits = 0, died = true; died; commits += 1) {
      expect(commits).toBeLessThan(5);
      let server = await killableMount(transitEngine);
      await done(server, 'update', 'transit/keys/k', OPEN);
      const { backup } = await done(server, 'read', 'transit/backup/k');
      await done(server, 'update', 'transit/keys/k/rotate');
      const { ciphertext } = await done(server, 'update', 'transit/encrypt/k', { plaintext });
      server.storage.dieAfter(commits);
      died = await server.diesIn(server.ask('update', 'transit/restore', { backup, force: true }));
      server = await server.restart();
      const latest = await sound(server, []);
      if (latest === 2) expect(await done(server, 'update', 'transit/decrypt/k', { ciphertext })).toEqual({ plaintext });
      else expect(latest).toBe(1);
      await server.close();
    }
  });

  test('deletes it: it is there and whole, or gone, and its name is free', async () => {
    for (let commits = 0, died = true; died; commits += 1) {
      expect(commits).toBeLessThan(5);
      let server = await killableMount(transitEngine);
      await done(server, 'update', 'transit/keys/k', {});
      await done(server, 'update', 'transit/keys/k/config', { deletion_allowed: true });
      server.storage.dieAfter(commits);
      died = await server.diesIn(server.ask('delete', 'transit/keys/k'));
      server = await server.restart();
      await done(server, 'update', 'transit/keys/k', {});
      expect(await sound(server, [])).toBe(1);
      await server.close();
    }
  });

  test('rotates it by plan: it is rotated once, then or after the restart', async () => {
    for (let commits = 0; commits < 4; commits += 1) {
      let server = await killableMount(transitEngine, { clock: manualClock(new Date()) });
      await done(server, 'update', 'transit/keys/k', { auto_rotate_period: '2h' });
      const { ciphertext } = await done(server, 'update', 'transit/encrypt/k', { plaintext });
      await server.advance('119m');
      server.storage.dieAfter(commits);
      await server.diesIn(server.advance('2m'));
      server = await server.restart();
      await server.pass(300);
      expect(await sound(server, [ciphertext])).toBe(2);
      await server.close();
    }
  });

  test('two servers of one store rotate it once when it is due', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const first = await mountForTest(transitEngine, { storage: store.open(), clock });
    await first.write('keys/k', { auto_rotate_period: '2h' });
    const second = await mountForTest(transitEngine, { storage: store.open(), clock });
    await clock.advance('121m');
    await Promise.all([first.advance('1m'), second.advance('1m')]);
    expect((await second.read('keys/k')).data).toMatchObject({ latest_version: 2 });
    expect((await first.read('keys/k')).data).toMatchObject({ latest_version: 2 });
    await Promise.all([first.close(), second.close()]);
  });
});

describe('a batch', () => {
  test('lets other requests run between its items', async () => {
    const mount = await mountForTest(transitEngine);
    await mount.write('keys/k', {});
    const turnsOf = async (items: number): Promise<number> => {
      const batch_input = Array.from({ length: items }, () => ({ plaintext }));
      let turns = 0;
      let over = false;
      const counting = (async () => {
        while (!over) {
          await new Promise((resolve) => setImmediate(resolve));
          turns += 1;
        }
      })();
      const { data } = await mount.write('encrypt/k', { batch_input });
      over = true;
      await counting;
      expect((data as { batch_results: unknown[] }).batch_results).toHaveLength(items);
      return turns;
    };
    // After 200 items at most.
    expect((await turnsOf(1_000)) - (await turnsOf(1))).toBeGreaterThanOrEqual(4);
    await mount.close();
  });
});
