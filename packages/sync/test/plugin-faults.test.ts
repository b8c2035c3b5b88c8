import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Log } from '@strongroom/engine-sdk';
import { ExternalServiceError, SessionClosed } from '@strongroom/sync-sdk';
import { memoryDestination, MemoryProvider, type MemoryDestination } from '@strongroom/sync-testkit';
import { CONNECTION, syncMount, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';
const VALUE = 'correct-horse-battery';
const TOKEN = 'memory-token';
const KEY = 'PEM-OF-THE-ACCOUNT';

type Session = Awaited<ReturnType<MemoryDestination['open']>>;

describe('a plugin that throws what it holds', () => {
  let sync: SyncMount;
  let lines: string[];
  /** What the plugin throws, and where. */
  let faults: Partial<Record<'open' | 'limits' | 'read' | 'put' | 'list' | 'describe', (text: string) => Error>>;

  const throwing = (provider: MemoryProvider): MemoryDestination => {
    const plugin = memoryDestination(provider);
    const fault = (where: keyof typeof faults, text: string): void => {
      const make = faults[where];
      if (make) throw make(text);
    };
    return {
      ...plugin,
      limits: (connection) => {
        fault('limits', JSON.stringify(connection));
        return plugin.limits(connection);
      },
      accounts: {
        ...plugin.accounts!,
        describe: (account) => {
          fault('describe', JSON.stringify(account));
          return plugin.accounts?.describe?.(account) ?? {};
        },
      },
      open: async (connection, host) => {
        const all = JSON.stringify({ connection, account: host.account });
        fault('open', all);
        const session: Session = await plugin.open(connection, host);
        return {
          ...session,
          read: async (request) => (fault('read', all), session.read(request)),
          put: async (request) => (fault('put', `${all} ${request.value}`), session.put(request)),
          async *list(request) {
            fault('list', all);
            yield* session.list(request);
          },
        };
      },
    };
  };

  beforeEach(async () => {
    faults = {};
    lines = [];
    const note = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const log: Log = { debug: note, info: note, warn: note, error: note };
    const provider = new MemoryProvider();
    sync = await syncMount({ provider, destination: throwing(provider), mount: { log } });
    await sync.ask('update', 'sys/sync/memory-accounts/shared', { owner: 'me', private_key: KEY });
    await sync.ask('update', ONE, { ...CONNECTION, account: 'shared' });
    await sync.put('web', { password: VALUE });
  });
  afterEach(async () => sync.close());

  const nothingTold = (...answers: unknown[]): void => {
    const told = `${lines.join('\n')} ${JSON.stringify(answers)}`;
    for (const secret of [VALUE, TOKEN, KEY]) expect(told).not.toContain(secret);
  };
  const typeError = (text: string): Error => new TypeError(`cannot use ${text}`);

  test.each(['open', 'read', 'put'] as const)(
    '%s: neither log nor status hold a value or a credential, and the log says what it was',
    async (where) => {
      faults[where] = typeError;
      const [entry] = await sync.set('web');
      expect(entry).toMatchObject({ sync_status: 'INTERNAL_VAULT_ERROR', last_error: { code: 'internal' } });
      expect(lines.join()).toContain('TypeError: cannot use');
      nothingTold(entry);
    },
  );

  test.each(['plan', 'reconcile'])('list, under %s: a 500 that names the plugin, and no secret in it or in the log', async (call) => {
    await sync.set('web');
    faults.list = typeError;
    const answer = await sync.ask(call === 'plan' ? 'read' : 'update', `${ONE}/${call}`);
    expect(answer.status).toBe(500);
    expect(answer.errors?.join()).toContain('the plugin of the memory failed: TypeError: cannot use');
    expect(lines.join()).toContain('TypeError: cannot use');
    nothingTold(answer);
  });

  test('list, in the periodic reconciliation: no secret in the log, nor in sys/schedule', async () => {
    await sync.set('web');
    faults.list = typeError;
    await sync.advance('25h');
    const schedule = await sync.ask('read', 'sys/schedule');
    expect(JSON.stringify(schedule.data)).toContain('TypeError: cannot use');
    expect(lines.join()).toContain('TypeError: cannot use');
    nothingTold(schedule);
  });

  test('limits: no secret in the log or in the answer', async () => {
    await sync.set('web');
    faults.limits = typeError;
    const set = await sync.ask('update', `${ONE}/associations/set`, { mount: 'kv', secret_name: 'web' });
    const written = await sync.ask('update', ONE, { custom_tags: { a: 'b' } });
    expect([set.status, written.status]).toEqual([500, 500]);
    await sync.put('web', { password: `${VALUE}-2` });
    await sync.advance('1m');
    nothingTold(set, written);
  });

  test('what describes an account: no secret in the log or in the answer', async () => {
    faults.describe = typeError;
    const answer = await sync.ask('read', 'sys/sync/memory-accounts/shared');
    expect(answer.status).toBe(500);
    nothingTold(answer);
  });

  test("an error of the catalogue that repeats an account's key: it is taken out of the text", async () => {
    faults.read = (text) => new ExternalServiceError(`the provider says ${text}`, { providerCode: '500' });
    const [entry] = await sync.set('web');
    expect(entry?.last_error?.message).toContain('the provider says');
    nothingTold(entry);
  });

  test('a session that says it is closed, with what it holds', async () => {
    await sync.set('web');
    faults.list = (text) => new SessionClosed(text);
    const answer = await sync.ask('read', `${ONE}/plan`);
    expect(answer.status).toBe(500);
    nothingTold(answer);
  });
});
