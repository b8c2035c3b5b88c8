import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { notifyOwner, type Log } from '@strongroom/engine-sdk';
import { ExternalServiceError, SessionClosed } from '@strongroom/sync-sdk';
import { memoryDestination, MemoryProvider, type MemoryDestination } from '@strongroom/sync-testkit';
import { DestinationGuard } from '../src/destination-guard.ts';
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

describe('a plugin that breaks its contract', () => {
  const lines: string[] = [];
  const note = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  let sync: SyncMount;
  let usual: MemoryDestination;
  let opened: number;

  /** The memory, whose sessions are changed so. */
  const start = async (change: (session: Session) => Partial<Session>, open?: () => Promise<void>): Promise<void> => {
    lines.length = 0;
    opened = 0;
    const provider = new MemoryProvider();
    usual = memoryDestination(provider);
    const destination: MemoryDestination = {
      ...usual,
      open: async (...args) => {
        opened += 1;
        await open?.();
        const session = await usual.open(...args);
        return { ...session, ...change(session) };
      },
    };
    sync = await syncMount({ provider, destination, mount: { log } });
    await sync.put('web', { password: VALUE });
  };
  afterEach(async () => sync.close());
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const told = (): string => lines.join('\n');

  test('by throwing after its call is named in the log without a secret, and its destination is quarantined for a minute', async () => {
    let leaks = true;
    await start((session) => ({
      put: async (request) => {
        // As the process's handlers of uncaught errors do it.
        if (leaks) setImmediate(() => void notifyOwner(new TypeError(`late: ${request.value} ${TOKEN}`)));
        leaks = false;
        return session.put(request);
      },
    }));
    await sync.set('web');
    await turns();
    expect(told()).toContain('the plugin of the memory threw after its call had ended: late: ');
    expect(told()).toContain('the destination memory/one is quarantined for 60 s');
    expect(told()).not.toContain(VALUE);
    expect(told()).not.toContain(TOKEN);
    await sync.put('web', { password: `${VALUE}-2` });
    const [entry] = await sync.set('web');
    expect(entry).toMatchObject({
      sync_status: 'INTERNAL_VAULT_ERROR',
      last_error: { message: expect.stringContaining('is quarantined until') },
    });
    expect(JSON.stringify(entry)).not.toContain(VALUE);
    expect((await sync.ask('read', `${ONE}/plan`)).errors?.join()).toContain('is quarantined until');
    await sync.advance('3m');
    expect(await sync.only()).toMatchObject({ sync_status: 'SYNCED' });
    expect(opened).toBe(2);
  });

  test('is in use again at once when its destination is written', async () => {
    let leaks = true;
    await start((session) => ({
      put: async (request) => {
        if (leaks) setImmediate(() => void notifyOwner(new Error('late')));
        leaks = false;
        return session.put(request);
      },
    }));
    await sync.set('web');
    await turns();
    await sync.ask('patch', ONE, { custom_tags: { a: 'b' } });
    expect((await sync.set('web'))[0]).toMatchObject({ sync_status: 'SYNCED' });
  });

  test('by not ending a call whose deadline has passed is named, and neither the run nor the association hangs', async () => {
    await start(() => ({ put: async () => new Promise<never>(() => undefined) }));
    const set = sync.set('web', { wait: '2m' });
    await turns();
    await sync.clock.advance('45s');
    await sync.clock.advance('5s');
    expect(await set).toEqual([expect.objectContaining({ sync_status: 'EXTERNAL_SERVICE_ERROR' })]);
    expect(told()).toContain(
      'the plugin of the memory did not end a call after it was aborted; the destination memory/one is quarantined for 60 s',
    );
  });

  test('by never opening a session is named, and the association shows it', async () => {
    await start(
      () => ({}),
      async () => new Promise<never>(() => undefined),
    );
    const set = sync.set('web', { wait: '2m' });
    await turns();
    await sync.clock.advance('30s');
    expect(await set).toEqual([
      expect.objectContaining({
        sync_status: 'INTERNAL_VAULT_ERROR',
        last_error: expect.objectContaining({ message: 'the plugin of the memory did not open a session within 30 s' }),
      }),
    ]);
  });

  test('by texts longer than 4 KiB has them cut, and no half of a secret is left at the cut', async () => {
    await start(() => ({
      // eslint-disable-next-line require-yield
      async *list() {
        throw new TypeError(`${'x'.repeat(4_040)} ${TOKEN} ${'y'.repeat(100_000)}`);
      },
    }));
    const { status, errors } = await sync.ask('read', `${ONE}/plan`);
    expect(status).toBe(500);
    expect(errors!.join().length).toBeLessThanOrEqual(4_096 + '1 error occurred:\n\t* \n\n'.length);
    expect(errors!.join()).not.toContain('memory-');
  });

  test('by a session that does not close holds up no stop', async () => {
    await start(() => ({ close: async () => new Promise<never>(() => undefined) }));
    await sync.set('web');
    const closed = sync.close();
    await turns();
    await sync.clock.advance('5s');
    await closed;
  });
});

describe('the guard', () => {
  test('names a plugin that holds up the whole server for longer than its deadline', () => {
    let now = 0;
    const clock = { now: () => new Date(now), millis: () => now, after: () => () => undefined };
    const faults: string[] = [];
    const guard = new DestinationGuard({
      title: 'Acme',
      clock,
      code: undefined,
      secrets: () => [],
      fault: (reason) => faults.push(reason),
    });
    guard.look(() => (now += 44_000));
    expect(faults).toEqual([]);
    guard.look(() => (now += 46_000));
    expect(faults).toEqual(['held up the whole server for 46 s']);
  });
});
