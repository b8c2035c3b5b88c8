import { describe, expect, test } from '@jest/globals';
import { ExternalServiceError, Throttled, type DestinationSession, type RemoteSecret } from '@strongroom/sync-sdk';
import {
  memoryDestination,
  MemoryProvider,
  SYNC_CONTRACT_CASES,
  syncDestinationContract,
  type MemoryDestination,
  type SyncContractCase,
  type SyncContractOptions,
} from '../../src/index.ts';

type Options = SyncContractOptions<MemoryDestination['connection']>;

const config = { endpoint: 'http://127.0.0.1:8200', access_token: 'memory-token', place: 'main', account: undefined };

function optionsFor(provider: MemoryProvider, plugin: MemoryDestination = memoryDestination(provider)): Options {
  return {
    plugin: plugin as unknown as Options['plugin'],
    config,
    outside: provider,
    wrongCredentials: (good) => ({ ...good, access_token: 'wrong' }),
    unreachable: (good) => ({ ...good, endpoint: 'http://127.0.0.1:1' }),
    malformed: (good) => ({ ...good, endpoint: 'nowhere' }),
  };
}

syncDestinationContract({ describe, test }, optionsFor(new MemoryProvider({ softDelete: true, limits: { maxCount: 100 } })));
const recorded = new MemoryProvider({ ownership: 'recorded' });
syncDestinationContract({ describe, test }, optionsFor(recorded, memoryDestination(recorded, 'memory-recorded')));

/** Runs the contract by a runner of our own, over a session with a fault; tells which cases fail. */
async function failures(broken: (session: DestinationSession, provider: MemoryProvider) => Partial<DestinationSession>): Promise<string[]> {
  const provider = new MemoryProvider({ softDelete: true, limits: { maxCount: 100 } });
  const plugin = memoryDestination(provider);
  const faulty: MemoryDestination = {
    ...plugin,
    open: async (connection, host) => {
      const session = await plugin.open(connection, host);
      return { ...session, ...broken(session, provider) } as Awaited<ReturnType<typeof plugin.open>>;
    },
  };
  const cases: [string, () => Promise<void>][] = [];
  syncDestinationContract({ describe: (_, body) => body(), test: (name, body) => cases.push([name, body]) }, optionsFor(provider, faulty));
  const failed: string[] = [];
  for (const [name, body] of cases) await body().catch(() => failed.push(name));
  return failed;
}

describe('the contract', () => {
  test('has a body for every case', async () => {
    const names: string[] = [];
    const runner = { describe: (_: string, body: () => void) => body(), test: (name: string) => names.push(name) };
    syncDestinationContract(runner, optionsFor(new MemoryProvider()));
    expect(names).toEqual([...SYNC_CONTRACT_CASES]);
  });

  test('a skip needs a known case and a reason', () => {
    const skipping = (name: string, reason: string) => () =>
      syncDestinationContract(
        { describe: () => undefined, test: () => undefined },
        { ...optionsFor(new MemoryProvider()), skip: [{ test: name as SyncContractCase, reason }] },
      );
    expect(skipping('open does not connect', '')).toThrow('needs a reason');
    expect(skipping('no such case', 'a b c d')).toThrow('no case');
  });

  test.each<[SyncContractCase, (session: DestinationSession, provider: MemoryProvider) => Partial<DestinationSession>]>([
    [
      'put creates: the value exists outside, and read sees our mark',
      (session) => ({ put: async (request) => session.put({ ...request, value: `${request.value} ` }) }),
    ],
    [
      'creating what somebody else has created meanwhile is NameTaken or replaces nothing',
      (session) => ({ put: async (request) => session.put({ ...request, current: request.current ?? { name: request.name } }) }),
    ],
    ['remove takes it away, and removing it again succeeds', () => ({ remove: async () => undefined })],
    ['list gives ours, page by page, and nothing else', (session) => ({ list: (request) => firstOf(session.list(request), 10) })],
    [
      'a foreign edit shows as another revision',
      (session) => ({
        read: async (request) => fixedRevision(await session.read(request)),
        put: async (r) => fixedRevision(await session.put(r))!,
      }),
    ],
    [
      'a failing provider is an ExternalServiceError, and nothing is tried twice',
      (session) => ({ read: async (request) => session.read(request).catch(async () => session.read(request)) }),
    ],
    [
      'no error text holds a value or a credential',
      (session) => ({
        put: async (request) =>
          session.put(request).catch(() => {
            throw new ExternalServiceError(`could not write ${request.value}`);
          }),
      }),
    ],
    [
      'no error text holds a value or a credential',
      (session) => ({
        read: async (request) =>
          session.read(request).catch((error: unknown) => {
            throw new ExternalServiceError(`the token ${config.access_token} is of no use`, { cause: error });
          }),
      }),
    ],
    [
      'throttling is Throttled, with the pause asked for',
      (session) => ({
        put: async (request) =>
          session.put(request).catch(() => {
            throw new Throttled('busy');
          }),
      }),
    ],
    [
      'throttling is Throttled, with the pause asked for',
      (session) => ({
        put: async (request) =>
          session.put(request).catch(() => {
            throw new ExternalServiceError('busy');
          }),
      }),
    ],
  ])('finds a destination that breaks "%s"', async (name, broken) => {
    expect(await failures(broken)).toContain(name);
  });
});

async function* firstOf(secrets: AsyncIterable<RemoteSecret>, count: number): AsyncIterable<RemoteSecret> {
  let seen = 0;
  for await (const secret of secrets) {
    if ((seen += 1) > count) return;
    yield secret;
  }
}

function fixedRevision(secret: RemoteSecret | undefined): RemoteSecret | undefined {
  return secret && { ...secret, revision: 'always' };
}
