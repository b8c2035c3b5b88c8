import { randomUUID } from 'node:crypto';
import { BadRequest, f, path, type AnyPath, type EngineHost, keysOf, ListedKeys, pageFields } from '@strongroom/engine-sdk';
import { connectionUrlFields, connectionUrlSecrets, visibleConnection } from '@strongroom/database-sdk';
import { RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import { creationRefused, type Connections, type OpenConnection } from './connections.ts';
import { connectionLimitFields, limitsAfter, USUAL_LIMITS } from './connection-limits.ts';
import { countLiveUsers, liveUsersWarning } from './live-users.ts';
import { recordsIn, unsettled, type ConnectionRecord } from './records.ts';
import { dropIfUnused } from './retired-connections.ts';
import type { RootRotation } from './root-rotation.ts';

const fields = {
  name: f.name('Name of the connection.'),
  plugin_name: f.string('The plugin that speaks to this kind of database, such as "postgresql-database-plugin".'),
  plugin_version: f.string('Version of the plugin, where several are installed; empty for the newest.'),
  verify_connection: f.bool('Connect now, and refuse settings that do not work.', { default: true }),
  allowed_roles: f.commaStrings('Roles that may use the connection; may hold "*". Empty: none may.'),
  root_rotation_statements: f.statements("Statements that change the root user's credentials. Empty: the plugin's own."),
  password_policy: f.string('Password policy for generated passwords; empty for the default one.'),
  ...connectionLimitFields,
};

const OWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(fields));
const PASSWORD_IN_URL =
  'Password found in connection_url, use a templated url to enable root rotation and prevent read access to password information.';
/** How often a write is begun anew when the connection was changed while it was being verified. */
const ATTEMPTS = 5;

export function configPaths(host: EngineHost, connections: Connections, roots: RootRotation): readonly AnyPath[] {
  const records = recordsIn(host.storage);

  const config = path('config/{name}', {
    synopsis: 'Connections to databases.',
    description:
      'Besides the fields below, the parameters of the plugin are given here, such as connection_url, username and password. A write to an ' +
      'existing connection changes what it sends and keeps the rest; a parameter that is null is removed. Passwords are never shown.',
    arbitraryData: true,
    fields,
  })
    .read({
      summary: 'Reads the settings of a connection, without its secrets.',
      response: Type.Object({
        plugin_name: Type.String(),
        plugin_version: Type.String(),
        allowed_roles: Type.Array(Type.String()),
        connection_details: Type.Record(Type.String(), Type.Unknown()),
        root_credentials_rotate_statements: Type.Array(Type.String()),
        password_policy: Type.String(),
        queue_limit: Type.Integer(),
        call_deadline: Type.Number({ description: 'Seconds.' }),
        circuit_failures: Type.Integer(),
        circuit_pause: Type.Number({ description: 'Seconds.' }),
        root_rotation: RotationStatus,
      }),
      handle: async (req) => {
        const record = await records.connections.get(req.data.name);
        if (!record) return undefined;
        return {
          data: {
            plugin_name: record.plugin_name,
            plugin_version: record.plugin_version,
            allowed_roles: record.allowed_roles,
            connection_details: visibleConnection(connections.plugin(record)?.connection ?? Type.Object({}), record.details),
            root_credentials_rotate_statements: record.root_rotation_statements,
            password_policy: record.password_policy,
            ...(record.limits ?? USUAL_LIMITS),
            root_rotation: await roots.rotation.status(req.data.name, record),
          },
        };
      },
    })
    .upsert({
      summary: 'Creates or changes a connection.',
      exists: async (req) => records.connections.has(req.data.name),
      handle: async (req) => {
        const { name } = req.data;
        for (let attempt = 1; ; attempt += 1) {
          const before = await records.connections.get(name);
          const record = changed(before, req);
          const open = await tried(name, record, req.data.verify_connection, req.signal);
          const stored = await req.storage.transaction(async (tx) => {
            const { connections: collection } = recordsIn(tx);
            if ((await collection.get(name))?.revision !== before?.revision) return false;
            await collection.put(name, record);
            return true;
          });
          if (stored) {
            connections.adopt({ name, record }, open);
            const readable = passwordInUrl(open, record);
            return readable ? { warnings: [PASSWORD_IN_URL] } : undefined;
          }
          await open.session.close().catch(() => undefined);
          if (attempt === ATTEMPTS) throw new BadRequest(`the connection ${name} is being changed by others; try again`);
        }
      },
    })
    .delete({
      summary: 'Deletes a connection. Its leases stay, and can be revoked.',
      handle: async (req) => {
        const { name } = req.data;
        const record = await records.connections.get(name);
        if (!record) return undefined;
        const warning = liveUsersWarning(
          await countLiveUsers(records.users, record.id),
          'made through this connection',
          'renewed and revoked as before',
        );
        await req.storage.transaction(async (tx) => {
          const inside = recordsIn(tx);
          const current = await inside.connections.get(name);
          if (!current) return;
          await inside.retired.put(current.id, { name, record: current });
          await inside.connections.delete(name);
        });
        await dropIfUnused(req.storage, record.id);
        connections.remove(record.id);
        return warning === undefined ? undefined : { warnings: [warning] };
      },
    });

  async function tried(name: string, record: ConnectionRecord, verify: boolean, signal: AbortSignal): Promise<OpenConnection> {
    let open: OpenConnection | undefined;
    try {
      open = await connections.openApart({ name, record });
      if (verify) await open.session.verify(signal);
      return open;
    } catch (error) {
      await open?.session.close().catch(() => undefined);
      throw creationRefused(error);
    }
  }

  const list = path('config', {
    synopsis: 'The names of the connections.',
    description: 'Lists names only.',
    fields: pageFields,
  }).list({
    summary: 'Lists the connections.',
    response: ListedKeys,
    handle: async (req) => keysOf(records.connections, req.data),
  });

  return [config, list];
}

interface Write {
  readonly data: {
    readonly plugin_name: string | undefined;
    readonly plugin_version: string | undefined;
    readonly verify_connection: boolean;
    readonly allowed_roles: string[] | undefined;
    readonly root_rotation_statements: string[] | undefined;
    readonly password_policy: string | undefined;
    readonly queue_limit: number | undefined;
    readonly call_deadline: number | undefined;
    readonly circuit_failures: number | undefined;
    readonly circuit_pause: number | undefined;
  };
  readonly raw: Readonly<Record<string, unknown>>;
}

function changed(before: ConnectionRecord | undefined, { data, raw }: Write): ConnectionRecord {
  const pluginName = data.plugin_name ?? before?.plugin_name ?? '';
  if (pluginName === '') throw new BadRequest('empty plugin name');
  const sent = Object.entries(raw).filter(([key]) => !OWN_FIELDS.has(key));
  const details = Object.fromEntries([...Object.entries(before?.details ?? {}), ...sent].filter(([, value]) => value !== undefined));
  for (const [key, value] of sent) if (value === null) delete details[key];
  // A root password that the operator sends ends the doubt about the one before, and what was asked for while that was in place.
  const kept = before && ('password' in raw || 'username' in raw) ? unsettled(before) : before;
  return {
    id: randomUUID(),
    ...kept,
    revision: (before?.revision ?? 0) + 1,
    plugin_name: pluginName,
    plugin_version: data.plugin_version ?? before?.plugin_version ?? '',
    allowed_roles: data.allowed_roles ?? before?.allowed_roles ?? [],
    root_rotation_statements: data.root_rotation_statements ?? before?.root_rotation_statements ?? [],
    password_policy: data.password_policy ?? before?.password_policy ?? '',
    verify_connection: data.verify_connection,
    limits: limitsAfter(before?.limits, data),
    details,
  };
}

function passwordInUrl({ plugin }: OpenConnection, { details }: ConnectionRecord): boolean {
  return connectionUrlFields(plugin.connection).some((field) => {
    const url = details[field];
    return typeof url === 'string' && connectionUrlSecrets(url).length > 0;
  });
}
