import { InternalError } from '@strongroom/engine-sdk';
import { isSyncError, secretsOf, type DestinationSession, type SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { textsIn } from './contents.ts';
import { masked } from './sync-status.ts';

/** A plugin threw what is none of the errors that it may throw. Neither a credential nor a value is in the text. */
export class PluginFault extends InternalError {}

/**
 * All calls of a plugin pass here, so that nothing it throws holds a secret it was given: errors of the catalogue have them taken out, and
 * any other becomes a PluginFault.
 */
export function guardedPlugin(plugin: SyncDestinationPlugin): SyncDestinationPlugin {
  const { accounts, aliases, version, title } = plugin;
  const connectionSecrets = (connection: Readonly<Record<string, unknown>>): string[] => secretsOf(plugin.connection, connection);
  const look = <T>(secrets: () => readonly string[], work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw clean(title, error, secrets());
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
            describe: (account) =>
              look(
                () => secretsOf(accounts.fields, account),
                () => accounts.describe?.(account) ?? {},
              ),
          },
        }
      : {}),
    limits: (connection) =>
      look(
        () => connectionSecrets(connection),
        () => plugin.limits(connection),
      ),
    check: (connection) =>
      look(
        () => connectionSecrets(connection),
        () => plugin.check?.(connection) ?? [],
      ),
    open: async (connection, host) => {
      const account = accounts && host.account ? secretsOf(accounts.fields, host.account as Record<string, unknown>) : [];
      const secrets = [...connectionSecrets(connection), ...account];
      try {
        return guardedSession(title, await plugin.open(connection, host), secrets);
      } catch (error) {
        throw clean(title, error, secrets);
      }
    },
  };
}

function guardedSession(title: string, session: DestinationSession, secrets: readonly string[]): DestinationSession {
  const call = async <T>(signal: AbortSignal, work: () => Promise<T>, value?: string): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted && !isSyncError(error)) throw signal.reason;
      throw clean(title, error, value === undefined ? secrets : [...secrets, ...textsIn(value)]);
    }
  };
  return {
    read: async (request) => call(request.signal, async () => session.read(request)),
    put: async (request) => call(request.signal, async () => session.put(request), request.value),
    remove: async (request) => call(request.signal, async () => session.remove(request)),
    async *list(request) {
      try {
        yield* session.list(request);
      } catch (error) {
        if (request.signal.aborted && !isSyncError(error)) throw request.signal.reason;
        throw clean(title, error, secrets);
      }
    },
    ...(session.count ? { count: async (signal: AbortSignal) => call(signal, async () => session.count!(signal)) } : {}),
    close: async () => session.close(),
  };
}

function clean(title: string, error: unknown, secrets: readonly string[]): unknown {
  if (!isSyncError(error)) {
    const trace = error instanceof Error ? (error.stack ?? String(error)) : String(error);
    return new PluginFault(`the plugin of ${title} failed: ${masked(String(error), secrets)}`, { cause: masked(trace, secrets) });
  }
  error.message = masked(error.message, secrets);
  if (error.stack !== undefined) error.stack = masked(error.stack, secrets);
  return error;
}
