import { silentLog } from '@strongroom/engine-sdk';
import { MemoryView } from '@strongroom/engine-testkit';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AuditBroker } from '../../../src/services/audit/audit-broker.ts';
import { auditPaths } from '../../../src/api/sys/path-audit.ts';
import { requestHeaderPaths } from '../../../src/api/sys/path-request-headers.ts';
import { fakeAudit, FakeDevice } from '../../services/audit/fake-device.ts';
import { ManualClock } from '../../services/audit/manual-clock.ts';
import { call, type Answer } from '../../services/identity/call.ts';

let broker: AuditBroker;
let device: FakeDevice;

beforeEach(async () => {
  device = new FakeDevice();
  broker = new AuditBroker({
    storage: new MemoryView(),
    clock: new ManualClock(),
    log: silentLog,
    plugins: [fakeAudit({ one: device })],
    configured: { conf: { type: 'fake', options: { is: 'one' } } },
  });
  await broker.load();
});

const ask = (operation: Parameters<typeof call>[1], path: string, body?: Record<string, unknown>): Promise<Answer> =>
  call([...auditPaths({ broker }), ...requestHeaderPaths({ headers: broker.headers })], operation, path, body);

describe('sys/audit', () => {
  test('enables, lists and disables', async () => {
    expect(await ask('update', 'audit/a', { type: 'fake', options: { is: 'one' }, description: 'd' })).toMatchObject({ status: 204 });
    const { data } = await ask('read', 'audit');
    expect(data).toMatchObject({
      'a/': { path: 'a/', type: 'fake', description: 'd', options: { is: 'one' }, local: false, status: { state: 'healthy' } },
      'conf/': { path: 'conf/' },
    });
    expect(await ask('delete', 'audit/a')).toMatchObject({ status: 204 });
    expect(await ask('delete', 'audit/never-there')).toMatchObject({ status: 204 });
    expect(Object.keys((await ask('read', 'audit')).data as object)).toEqual(['conf/']);
  });

  test('refuses with the texts of the wire', async () => {
    expect(await ask('update', 'audit/a', { type: 'x' })).toEqual({ status: 400, data: null, errors: ['unknown backend type: "x"'] });
    expect(await ask('update', 'audit/conf', { type: 'fake' })).toMatchObject({ status: 400, errors: ['path already in use'] });
    expect(await ask('delete', 'audit/conf')).toMatchObject({ status: 400, errors: ['cannot disable configuration-managed audit device'] });
  });

  test('digests a value as the device does', async () => {
    expect(await ask('update', 'audit-hash/conf', { input: 'value' })).toEqual({
      status: 200,
      data: { hash: broker.hash('conf', 'value') },
    });
    expect(broker.hash('conf', 'value')).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
    expect(await ask('update', 'audit-hash/nope', { input: 'value' })).toMatchObject({
      status: 400,
      errors: ['unknown audit backend "nope/"'],
    });
    expect(await ask('update', 'audit-hash/conf')).toMatchObject({ status: 400, errors: ['the "input" parameter is empty'] });
  });
});

describe('sys/config/auditing/request-headers', () => {
  const base = 'config/auditing/request-headers';

  test('has none at first', async () => {
    expect(await ask('read', base)).toEqual({ status: 200, data: { headers: {} } });
    expect(await ask('read', `${base}/X-Foo`)).toEqual({ status: 400, data: null, errors: ['Could not find header in config'] });
  });

  test('keeps a header whatever its case, and answers under the name that was asked for', async () => {
    expect(await ask('update', `${base}/X-Foo`, { hmac: true })).toMatchObject({ status: 204 });
    expect(await ask('read', `${base}/X-FOO`)).toMatchObject({ data: { 'X-FOO': { hmac: true } } });
    expect(await ask('read', base)).toMatchObject({ data: { headers: { 'x-foo': { hmac: true } } } });
    await broker.request({ auth: {}, request: { id: 'r', operation: 'read', path: 'p', headers: { 'X-Foo': 'bar' } } });
    expect(device.lines.at(-1)).toContain(`"headers":{"x-foo":["${broker.hash('conf', 'bar')}"]}`);
    expect(await ask('delete', `${base}/x-foo`)).toMatchObject({ status: 204 });
    expect(await ask('read', base)).toMatchObject({ data: { headers: {} } });
  });

  test('refuses what is no header name', async () => {
    expect(await ask('update', `${base}/a b`)).toMatchObject({ status: 400, errors: ['header "a b" is not a header name'] });
  });
});
