import type { Clock } from '@strongroom/engine-sdk';
import { secretsOf, type DestinationSession, type SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { DestinationGuard } from './destination-guard.ts';

/** How long a session may take to open and to close: neither connects. Milliseconds. */
const OPENING = 30_000;
const CLOSING = 5_000;

type Connection = Parameters<SyncDestinationPlugin['open']>[0];
type Host = Parameters<SyncDestinationPlugin['open']>[1];

/** A plugin behind its guard. */
export interface GuardedPlugin extends SyncDestinationPlugin {
  /** As `open`, for one destination: `fault` hears of what the plugin does beyond its contract, in words for operators. */
  openFor(connection: Connection, host: Host, fault: (reason: string) => void): Promise<DestinationSession>;
}

/** All calls of a plugin pass a guard. `fault`: where no destination is concerned. */
export function guardedPlugin(plugin: SyncDestinationPlugin, clock: Clock, fault: (reason: string) => void): GuardedPlugin {
  const { accounts, aliases, version, title, code } = plugin;
  const guarded = (secrets: () => readonly string[], tell = fault): DestinationGuard =>
    new DestinationGuard({ title, clock, code, secrets, fault: tell });
  const ofConnection = (connection: Connection): DestinationGuard => guarded(() => secretsOf(plugin.connection, connection));
  const openFor: GuardedPlugin['openFor'] = async (connection, host, tell) => {
    const account = accounts && host.account ? secretsOf(accounts.fields, host.account as Record<string, unknown>) : [];
    const secrets = [...secretsOf(plugin.connection, connection), ...account];
    const guard = guarded(() => secrets, tell);
    const opening = guard.bounded('open a session', OPENING, async () => {
      const session = await plugin.open(connection, host);
      if (given.up) void session.close().catch(() => undefined);
      return session;
    });
    const given = { up: false };
    try {
      return guardedSession(await opening, guard);
    } catch (error) {
      given.up = true;
      throw error;
    }
  };
  return {
    kind: plugin.kind,
    name: plugin.name,
    title,
    apiVersion: plugin.apiVersion,
    connection: plugin.connection,
    fixed: plugin.fixed,
    options: plugin.options,
    ownership: plugin.ownership,
    ...(aliases ? { aliases } : {}),
    ...(version === undefined ? {} : { version }),
    ...(accounts
      ? {
          accounts: {
            collection: accounts.collection,
            field: accounts.field,
            fields: accounts.fields,
            describe: (account) => guarded(() => secretsOf(accounts.fields, account)).look(() => accounts.describe?.(account) ?? {}),
          },
        }
      : {}),
    limits: (connection) => ofConnection(connection).look(() => plugin.limits(connection)),
    check: (connection) => ofConnection(connection).look(() => plugin.check?.(connection) ?? []),
    open: async (connection, host) => openFor(connection, host, fault),
    openFor,
  };
}

function guardedSession(session: DestinationSession, guard: DestinationGuard): DestinationSession {
  return {
    read: async (request) => guard.call(request.signal, async () => session.read(request)),
    put: async (request) => guard.call(request.signal, async () => session.put(request), request.value),
    remove: async (request) => guard.call(request.signal, async () => session.remove(request)),
    async *list(request) {
      const pages = guard.look(() => session.list(request)[Symbol.asyncIterator]());
      try {
        for (;;) {
          const next = await guard.call(request.signal, async () => pages.next());
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        // A page that was cut off may never end, so nobody waits for it.
        pages.return?.().catch(() => undefined);
      }
    },
    ...(session.count ? { count: async (signal: AbortSignal) => guard.call(signal, async () => session.count!(signal)) } : {}),
    close: async () => guard.bounded('close its session', CLOSING, async () => session.close()),
  };
}
