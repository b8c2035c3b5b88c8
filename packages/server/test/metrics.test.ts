import { describe, expect, test } from '@jest/globals';
import { Timing, type MountCounts } from '@strongroom/core';
import { memoryStorage } from '@strongroom/storage-sdk';
import { NO_SOURCES, type MetricSources } from '../src/metrics/metric-sources.ts';
import { ServerMetrics } from '../src/metrics/server-metrics.ts';

const COUNTED = {
  ...{ leases_issued: 7, leases_renewed: 0, leases_revoked: 0, revocations_failed: 0, rotations_ok: 0, rotations_failed: 0 },
  ...{ sync_ok: 0, sync_failed: 0, logins_ok: 3, logins_denied: 1, logins_failed: 0 },
  ...{ rollbacks_ok: 0, rollbacks_failed: 0, circuits_opened: 0 },
};
const mount: MountCounts = { mount: 'auth/up/', type: 'userpass', counted: COUNTED, jobs: {}, leases: 4, tokenLeases: 2, denied: 5 };

async function lines(sources: Partial<MetricSources>): Promise<string[]> {
  return (await new ServerMetrics({ ...NO_SOURCES, ...sources }).render()).split('\n').filter((line) => !line.startsWith('#'));
}

describe('metrics', () => {
  test('leave out what is not known', async () => {
    const text = (await lines({})).join('\n');
    for (const name of ['strongroom_due_backlog', 'strongroom_tokens', 'strongroom_storage_used_bytes', 'vault_expire_num_leases'])
      expect(text).not.toMatch(new RegExp(`^${name}[ {]`, 'm'));
    expect(text).toMatch(/^strongroom_unsealed 0$/m);
  });

  test('show mounts, and under the names of others with the cluster', async () => {
    const shown = await lines({ mounts: () => [mount], cluster: () => 'c1', sealed: () => false });
    expect(shown).toEqual(
      expect.arrayContaining([
        'strongroom_leases{mount="auth/up/",type="userpass"} 4',
        'strongroom_token_leases{mount="auth/up/",type="userpass"} 2',
        'strongroom_requests_denied_total{mount="auth/up/",type="userpass"} 5',
        'strongroom_logins_total{mount="auth/up/",type="userpass",result="denied"} 1',
        'vault_core_unsealed{cluster="c1"} 1',
        'vault_expire_num_leases{cluster="c1"} 6',
        'vault_token_creation{auth_method="userpass",mount_point="auth/up/",cluster="c1"} 3',
      ]),
    );
  });

  test('show pools, buffers of audit devices, and what became of spans', async () => {
    const buffer = {
      bytes: 10,
      most_bytes: 100,
      oldest: null,
      delivered_lines: 5,
      deliveries: 2,
      failures: 1,
      last_error: null,
      last_error_time: null,
    };
    const device = { path: 'logs/', type: 'http', state: 'healthy' as const, written: 6, failed: 0, dropped: 0, waiting: 0 };
    const shown = await lines({
      pools: () => [{ mount: 'db/', type: 'database', target: 'pg', open: 3, idle: 1, waiting: 2, limit: 4 }],
      audit: () => [{ ...device, last_error: null, last_error_time: null, writes: 6, seconds: 1, buffer }],
      spans: () => ({ exported: 7, dropped: 8, waiting: 9 }),
    });
    expect(shown).toEqual(
      expect.arrayContaining([
        'strongroom_pool_connections_open{mount="db/",type="database",target="pg"} 3',
        'strongroom_pool_waiting{mount="db/",type="database",target="pg"} 2',
        'strongroom_audit_buffer_bytes{device="logs/",type="http"} 10',
        'strongroom_audit_buffer_oldest_seconds{device="logs/",type="http"} 0',
        'strongroom_audit_deliveries_total{device="logs/",type="http",result="failed"} 1',
        'strongroom_trace_spans_total{result="dropped"} 8',
        'strongroom_trace_spans_waiting 9',
      ]),
    );
  });

  test('show waiting work by kind', async () => {
    const waiting = {
      due: [{ kind: 'lease' as const, due: 9, late: 2, oldest: 300 }],
      failingJobs: 1,
      snapshots: [{ name: 'hourly', age: 90, lastGood: 1_790_000_000_000, bytes: 4_096, failures: 2, kept: 3, interval: 3_600 }],
      irrevocableLeases: 2,
      openIntents: 3,
    };
    const shown = await lines({ work: () => ({ circuitsOpen: 0, requestsUnderWay: 1, workUnderWay: 4, waiting, tokens: 8 }) });
    expect(shown).toEqual(
      expect.arrayContaining([
        'strongroom_due_backlog 9',
        'strongroom_schedule_late{kind="lease"} 2',
        'strongroom_schedule_oldest_overdue_seconds{kind="lease"} 300',
        'strongroom_schedule_failing 1',
        'strongroom_snapshot_age_seconds{name="hourly"} 90',
        'strongroom_snapshot_interval_seconds{name="hourly"} 3600',
        'strongroom_snapshot_bytes{name="hourly"} 4096',
        'strongroom_snapshot_failures{name="hourly"} 2',
        'strongroom_snapshots_kept{name="hourly"} 3',
        'vault_autosnapshots_last_success_time{snapshot_config_name="hourly",cluster=""} 1790000000',
        'strongroom_leases_irrevocable 2',
        'strongroom_journal_open 3',
        'strongroom_work_under_way 4',
        'vault_token_count{cluster=""} 8',
      ]),
    );
  });

  test('time requests in seconds, and in milliseconds under the names of others, there with dots in JSON', async () => {
    const timing = new Timing();
    for (const millis of [100, 100, 100]) timing.add(millis);
    const metrics = new ServerMetrics({
      ...NO_SOURCES,
      timings: () => ({ of: () => timing, routes: [{ mount: 'kv/', operation: 'read', timing }] }),
    });
    const text = await metrics.render();
    expect(text).toMatch(/^strongroom_route_seconds_sum\{mount="kv\/",operation="read"\} 0\.3/m);
    expect(text).toMatch(/^vault_core_handle_request_count\{cluster=""\} 3$/m);
    expect(text).toMatch(/^vault_core_handle_request_sum\{cluster=""\} 300$/m);
    expect(
      Number(
        /^vault_core_handle_request\{cluster="",quantile="0\.5"\} (\S+)$/m.exec(text)?.[1] ??
          /^vault_core_handle_request\{quantile="0\.5",cluster=""\} (\S+)$/m.exec(text)?.[1],
      ),
    ).toBeCloseTo(100, -2);
    const { Samples } = JSON.parse(await metrics.render('json')) as { Samples: { Name: string; Count: number }[] };
    expect(Samples.find(({ Name }) => Name === 'vault.core.handle_request')).toMatchObject({ Count: 3 });
  });

  test('time the storage, tell commits from failed ones, and leave every other part of it alone', async () => {
    const metrics = new ServerMetrics(NO_SOURCES);
    const storage = metrics.counting(memoryStorage());
    await storage.commit({ put: [{ key: 'a', value: new Uint8Array(1) }] });
    await expect(
      storage.commit({ put: [{ key: 'a', value: new Uint8Array(1) }], expect: [{ key: 'a', version: 999 }] } as never),
    ).rejects.toThrow();
    await storage.get('a');
    await storage.range({ prefix: '' });
    const text = await metrics.render();
    expect(text).toMatch(/^strongroom_storage_commits_total 1$/m);
    expect(text).toMatch(/^strongroom_storage_commit_failures_total 1$/m);
    expect(text).toMatch(/^strongroom_storage_seconds_count\{operation="get"\} 1$/m);
    expect(text).toMatch(/^strongroom_storage_seconds_count\{operation="list"\} 1$/m);
    expect(storage.staleness()).toEqual({ millis: 0 });
    await storage.close();
  });
});
