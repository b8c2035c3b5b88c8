// eslint-disable-next-line no-restricted-syntax -- etcd keeps the time of its status
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createCore } from '@strongroom/core';
import { kvEngine } from '@strongroom/kv';
import { describeWhere, etcdMissing, startEtcd } from '@strongroom/lab';
import { etcdStorage } from '@strongroom/storage-etcd';
import { NO_SOURCES } from '../src/metrics/metric-sources.ts';
import { ServerMetrics } from '../src/metrics/server-metrics.ts';

const MIB = 1 << 20;

describeWhere(etcdMissing(), 'a server over an etcd with a small quota and small requests', () => {
  test('answers 413 to what is too large, warns from 80 % on, and 507 when it is full; metrics show it, and reads go on', async () => {
    // What is written is in its size at once, so that there is a moment between much and too much.
    const etcd = await startEtcd({ flags: [`--quota-backend-bytes=${24 * MIB}`, '--backend-batch-limit=1'] });
    const logged: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => void logged.push(message) };
    const metrics = new ServerMetrics({ ...NO_SOURCES, sealed: () => false });
    const storage = metrics.counting(await etcdStorage({ endpoints: etcd.endpoints, quotaBytes: 24 * MIB, log }));
    const core = await createCore({ storage, plugins: [kvEngine], seal: { type: 'static', key: Buffer.alloc(32, 1) } });
    try {
      await core.openForDevelopment('root');
      const call = async (operation: 'read' | 'update', path: string, data?: Record<string, unknown>) =>
        core.handle({ operation, path, remoteAddress: '127.0.0.1', token: 'root', ...(data ? { data } : {}) });
      await call('update', 'sys/mounts/secret', { type: 'kv' });
      expect(await call('update', 'secret/huge', { value: 'x'.repeat(36 * MIB) })).toMatchObject({
        status: 413,
        errors: [expect.stringContaining('--max-request-bytes')],
      });
      const warnings = async (): Promise<string[]> =>
        (JSON.parse(String((await call('read', 'sys/health')).raw?.body)) as { warnings?: string[] }).warnings ?? [];
      expect(await warnings()).toEqual([]);
      let status = 204;
      let nearlyFull: string[] = [];
      for (let i = 0; status === 204 && i < 60; i += 1) {
        ({ status } = await call('update', `secret/${i}`, { value: 'x'.repeat(MIB) }));
        // The driver looks every second: it is waited for where it should have something to say.
        const used = async (): Promise<number> => Number((await etcd.call('/v3/maintenance/status'))['dbSize']);
        if (nearlyFull.length > 0 || (await used()) <= 0.8 * 24 * MIB) continue;
        for (let tries = 0; nearlyFull.length === 0 && tries < 100; tries += 1, await delay(50))
          nearlyFull = (await warnings()).filter((text) => !text.startsWith('the last write'));
      }
      // etcd's file grows in steps, which may take it beyond the quota at once.
      expect(nearlyFull).toEqual([expect.stringMatching(/^the storage etcd uses (?:[89]\d|1\d\d) % of its quota$/)]);
      expect(logged).toContain('etcd is nearly full, and takes no writes once its quota is used up');
      expect(status).toBe(507);
      expect((await call('read', 'secret/0')).status).toBe(200);
      while (!(await warnings()).some((text) => text.includes('has raised the alarm NOSPACE'))) await delay(50);
      const shown = await metrics.render();
      expect(shown).toMatch(/^strongroom_storage_alarms 1$/m);
      expect(shown).toMatch(new RegExp(`^strongroom_storage_quota_bytes ${24 * MIB}$`, 'm'));
    } finally {
      await core.close();
      await etcd.stop();
    }
  }, 60_000);
});
