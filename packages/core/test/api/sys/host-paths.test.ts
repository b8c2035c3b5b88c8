import { describe, expect, test } from '@jest/globals';
import { MemoryView } from '@strongroom/engine-testkit';
import { LogLevels } from '../../../src/services/settings/log-levels.ts';
import { hostInfoPaths } from '../../../src/api/sys/path-host-info.ts';
import { loggerPaths } from '../../../src/api/sys/path-loggers.ts';
import { versionHistoryPaths } from '../../../src/api/sys/path-version-history.ts';
import { VersionHistory } from '../../../src/services/settings/version-history.ts';
import { ManualClock } from '../../services/audit/manual-clock.ts';
import { call } from '../../services/identity/call.ts';

test('sys/host-info tells about the machine', async () => {
  const { status, data } = await call(hostInfoPaths({ clock: new ManualClock() }), 'read', 'host-info');
  const info = data as {
    cpu: object[];
    disk: { path: string; total: number; used: number }[];
    memory: { total: number; used: number };
    host: object;
  };
  expect(status).toBe(200);
  expect(Object.keys(info)).toEqual(['timestamp', 'cpu', 'cpu_times', 'disk', 'host', 'memory']);
  expect(info).toMatchObject({
    timestamp: '2030-01-02T03:04:05.678Z',
    host: { hostname: expect.any(String), kernelArch: expect.any(String) },
  });
  expect(info.cpu.length).toBeGreaterThan(0);
  expect(info.disk.length).toBeGreaterThan(0);
  for (const disk of info.disk) expect(disk.total).toBeGreaterThanOrEqual(disk.used);
  expect(info.memory.total).toBeGreaterThan(info.memory.used);
});

describe('sys/version-history', () => {
  test('lists each version once, with the one before it, and is only listed', async () => {
    const clock = new ManualClock();
    const history = new VersionHistory(new MemoryView(), clock);
    const paths = versionHistoryPaths({ history });
    expect(await call(paths, 'list', 'version-history')).toMatchObject({ status: 404 });
    await history.record('1.9.0');
    clock.advance(1000);
    await history.record('1.10.0', '2030-01-01');
    clock.advance(1000);
    await history.record('1.10.0');
    expect(await call(paths, 'list', 'version-history')).toEqual({
      status: 200,
      data: {
        keys: ['1.9.0', '1.10.0'],
        key_info: {
          '1.9.0': { timestamp_installed: '2030-01-02T03:04:05.678Z', previous_version: null, build_date: '', commit_date: '' },
          '1.10.0': {
            timestamp_installed: '2030-01-02T03:04:06.678Z',
            previous_version: '1.9.0',
            build_date: '2030-01-01',
            commit_date: '2030-01-01',
          },
        },
      },
    });
    expect(await call(paths, 'read', 'version-history')).toMatchObject({ status: 405 });
  });
});

describe('sys/loggers', () => {
  test('shows, sets and resets levels, of one logger or of all', async () => {
    const levels = new LogLevels('info', ['core', 'core.audit']);
    const paths = loggerPaths({ levels });
    expect(await call(paths, 'read', 'loggers')).toEqual({ status: 200, data: { core: 'info', 'core.audit': 'info' } });
    expect(await call(paths, 'update', 'loggers/core.audit', { level: 'Debug' })).toMatchObject({ status: 204 });
    expect(await call(paths, 'read', 'loggers/core.audit')).toEqual({ status: 200, data: { 'core.audit': 'debug' } });
    expect([levels.allows('debug', 'core'), levels.allows('debug', 'core.audit'), levels.allows('trace', 'core.audit')]).toEqual([
      false,
      true,
      false,
    ]);
    await call(paths, 'update', 'loggers', { level: 'err' });
    expect(await call(paths, 'read', 'loggers')).toMatchObject({ data: { core: 'error', 'core.audit': 'error' } });
    await call(paths, 'delete', 'loggers/core');
    expect(await call(paths, 'read', 'loggers')).toMatchObject({ data: { core: 'info', 'core.audit': 'error' } });
    await call(paths, 'delete', 'loggers');
    expect(await call(paths, 'read', 'loggers')).toMatchObject({ data: { core: 'info', 'core.audit': 'info' } });
    expect(levels.allows('info', 'unnamed')).toBe(true);
  });

  test.each([
    ['update', 'loggers', {}, 'level is required'],
    ['update', 'loggers', { level: 'loud' }, 'invalid level provided: unknown log level: loud'],
    ['update', 'loggers/core', { level: 'constructor' }, 'invalid level provided: unknown log level: constructor'],
    ['update', 'loggers/nope', { level: 'info' }, 'logger "nope" not found'],
    ['delete', 'loggers/nope', {}, 'logger "nope" not found'],
  ] as const)('%s %s %j is refused', async (operation, path, body, text) => {
    const paths = loggerPaths({ levels: new LogLevels('info', ['core']) });
    expect(await call(paths, operation, path, body)).toEqual({ status: 400, data: null, errors: [text] });
  });
});
