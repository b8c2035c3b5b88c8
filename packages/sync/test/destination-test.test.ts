import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { memoryDestination, MemoryProvider } from '@strongroom/sync-testkit';
import { CONNECTION, syncMount, type Data, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';
interface Report {
  readonly ok: boolean;
  readonly steps: readonly { readonly step: string; readonly ok: boolean; readonly milliseconds: number; readonly error?: string }[];
  readonly secret_name?: string;
}

describe('a test of a destination', () => {
  let sync: SyncMount;
  beforeEach(async () => void (sync = await syncMount()));
  afterEach(async () => sync.close());
  const tried = async (data: Data = {}, at = ONE): Promise<Report> => {
    const { status, data: report, errors } = await sync.ask('update', `${at}/test`, data);
    expect([status, errors ?? []]).toEqual([200, []]);
    return report as never;
  };
  const steps = ({ steps: taken }: Report): string[] => taken.map(({ step, ok }) => `${step}${ok ? '' : ' fails'}`);
  const stored = async (): Promise<unknown> => (await sync.ask('list', 'sys/sync/destinations')).data;

  test('reads a name that is free, and writes nothing', async () => {
    const report = await tried();
    expect(steps(report)).toEqual(['settings', 'reach', 'login']);
    expect(report.ok).toBe(true);
    expect(sync.provider.log).toEqual([`read ${report.secret_name}`]);
    expect(report.secret_name).toMatch(/^strongroom-test-[0-9a-f]{12}$/);
  });

  test('with write=true writes a secret, reads it back and removes it', async () => {
    const report = await tried({ write: true });
    expect(steps(report)).toEqual(['settings', 'reach', 'login', 'write', 'read back', 'remove']);
    const name = report.secret_name;
    expect(sync.provider.log).toEqual([`read ${name}`, `put ${name}`, `read ${name}`, `remove ${name}`]);
    expect([...sync.provider.secrets]).toEqual([]);
  });

  test('takes settings that are not stored, and stores none of them', async () => {
    const before = await stored();
    expect(steps(await tried({ ...CONNECTION, write: true }, 'sys/sync/destinations/memory/unsaved'))).toHaveLength(6);
    const wrong = await tried({ access_token: 'another' });
    expect(steps(wrong)).toEqual(['settings', 'reach', 'login fails']);
    expect(JSON.stringify(wrong)).not.toContain('another');
    expect(await stored()).toEqual(before);
    expect(steps(await tried())).toEqual(['settings', 'reach', 'login']);
  });

  test('names the settings that are wrong, and asks nobody', async () => {
    const report = await tried({ reconcile_interval: 5, secret_name_template: '{{ .Nothing }}' });
    expect(steps(report)).toEqual(['settings fails']);
    expect(report.steps[0]!.error).toMatch(/secret_name_template: .*; reconcile_interval must be at least 60 seconds/);
    expect(sync.provider.log).toEqual([]);
  });

  test('of a name that is not stored, without settings, is 404', async () => {
    expect((await sync.ask('update', 'sys/sync/destinations/memory/nobody/test', { write: true })).status).toBe(404);
    const unknown = await sync.ask('update', 'sys/sync/destinations/memry/one/test');
    expect([unknown.status, unknown.errors?.join()]).toEqual([400, expect.stringContaining('memory')]);
  });

  test('does not send a stored secret to another address', async () => {
    const policy = 'path "sys/sync/destinations/memory/one/test" { capabilities = ["update"] }';
    await sync.ask('update', 'sys/policies/acl/tester', { policy });
    const { auth } = await sync.ask('update', 'auth/token/create', { policies: ['tester'] });
    const answer = await sync.ask('update', `${ONE}/test`, { endpoint: 'http://elsewhere.example' }, auth!.client_token);
    expect(answer.status).toBe(200);
    const report = answer.data as unknown as Report;
    expect(steps(report)).toEqual(['settings fails']);
    expect(report.steps[0]!.error).toMatch(/access_token/);
    expect(sync.provider.log).toEqual([]);
  });

  test.each([
    ['fails', 'failing', ['settings', 'reach', 'login', 'write fails']],
    ['is refused', 'denied', ['settings', 'reach', 'login', 'write fails']],
  ] as const)('says that a write %s, and leaves nothing', async (_what, how, expected) => {
    sync.provider.fail(how, /^put/);
    const report = await tried({ write: true });
    expect(steps(report)).toEqual(expected);
    expect(report.ok).toBe(false);
    expect([...sync.provider.secrets]).toEqual([]);
  });

  test('removes what was written although the answer was lost', async () => {
    sync.provider.hook = (call, moment) => {
      if (call.startsWith('put ') && moment === 'after') throw new Error('connection lost');
    };
    const report = await tried({ write: true });
    expect(steps(report)).toEqual(['settings', 'reach', 'login', 'write fails', 'remove']);
    expect([...sync.provider.secrets]).toEqual([]);
  });

  test('says what stays outside when the removal fails', async () => {
    sync.provider.fail('denied', /^remove/);
    const report = await tried({ write: true });
    expect(steps(report).at(-1)).toBe('remove fails');
    expect([...sync.provider.secrets.keys()]).toEqual([report.secret_name]);
  });

  test('sees that a destination does not show what it took', async () => {
    const provider = new MemoryProvider();
    const usual = memoryDestination(provider);
    await sync.close();
    sync = await syncMount({
      provider,
      destination: {
        ...usual,
        open: async (...args) => ({ ...(await usual.open(...args)), read: async () => undefined }),
      },
    });
    const report = await tried({ write: true });
    expect(steps(report)).toEqual(['settings', 'reach', 'login', 'write', 'read back fails', 'remove']);
    expect([...provider.secrets]).toEqual([]);
  });
});
