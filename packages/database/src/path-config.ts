import { type AnyPath, BadRequest, type EngineHost, namesPath, NoContent, path } from '@strongroom/engine-sdk';
import { connectionUrlFields, connectionUrlPasswords, visibleConnection } from '@strongroom/database-sdk';
import { RotationStatus, visiblePlan, visiblePlanFields } from '@strongroom/rotation';
import { Type, type TObject } from 'typebox';
import { changedAddress, requireRolesAtRest, requireSecretsForAddress } from './address-rule.ts';
import { connectionAfterMove } from './connection-move.ts';
import { connectionRemarks } from './connection-remarks.ts';
import { creationRefused, type Connections, type OpenConnection, type NamedConnection } from './connections.ts';
import { reconciled, requireNoRotation, requireRootAtRest, withSecretFields, written } from './connection-write.ts';
import { connectionFields, detailsIn, OWN_FIELDS } from './connection-fields.ts';
import { USUAL_LIMITS } from './connection-limits.ts';
import { countLiveUsers, liveUsersWarning, staticRolesWarning } from './live-users.ts';
import type { AnyDatabasePlugin } from './plugin-catalog.ts';
import { withRootClaim } from './root-claim.ts';
import { requireSelfManageable } from './self-managed.ts';
import { recordsIn, type ConnectionRecord } from './records.ts';
import { dropIfUnused } from './retired-connections.ts';
import type { RootRotation } from './root-rotation.ts';

const PASSWORD_IN_URL =
  'Password found in connection_url, use a templated url to enable root rotation and prevent read access to password information.';
/** How often a write is begun again when the connection was changed while it was being verified. */
const ATTEMPTS = 5;

export function configPaths(host: EngineHost, connections: Connections, roots: RootRotation): readonly AnyPath[] {
  const records = recordsIn(host.storage);

  const config = path('config/{name}', {
    synopsis: 'Connections to databases.',
    description:
      'Besides the fields below, the parameters of the plugin are given here, such as connection_url, username and password. A write to an ' +
      'existing connection changes what it sends and keeps the rest; a parameter that is null is removed. Passwords are never shown.',
    arbitraryData: true,
    variants: {
      by: 'plugin_name',
      schemas: () => Object.fromEntries(host.plugins('database').map((plugin) => [plugin.name, (plugin as AnyDatabasePlugin).connection])),
    },
    fields: connectionFields,
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
        skip_static_role_import_rotation: Type.Boolean(),
        self_managed: Type.Optional(Type.Boolean()),
        queue_limit: Type.Integer(),
        call_deadline: Type.Number({ description: 'Seconds.' }),
        circuit_failures: Type.Integer(),
        circuit_pause: Type.Number({ description: 'Seconds.' }),
        ...visiblePlanFields,
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
            connection_details: visibleConnection(schemaOf(record), record.details, record.secret_fields),
            root_credentials_rotate_statements: record.root_rotation_statements,
            password_policy: record.password_policy,
            skip_static_role_import_rotation: record.skip_static_role_import_rotation ?? false,
            ...(record.self_managed ? { self_managed: true } : {}),
            ...(record.limits ?? USUAL_LIMITS),
            ...(record.plan ? visiblePlan(record.plan) : {}),
            root_rotation: await roots.rotation.status(req.data.name, record),
          },
        };
      },
    })
    .upsert({
      summary: 'Creates or changes a connection.',
      response: NoContent,
      exists: async (req) => records.connections.has(req.data.name),
      handle: async (req) => {
        const { name } = req.data;
        const details = detailsIn(req.raw);
        const write = { ...req.data, details };
        for (let attempt = 1; ; attempt += 1) {
          const before = await records.connections.get(name);
          const asked = written(before, write);
          requireNoRotation(name, asked, write, before, host.clock.millis());
          const plugin = pluginOf(asked);
          requireSelfManageable(plugin, asked);
          const { sudo } = req.caller;
          requireSettings({ name, record: asked });
          roots.requireFitting({ name, record: asked });
          const moved = { name, changed: changedAddress(before, asked, plugin.connection), sudo };
          requireSecretsForAddress({ ...moved, before, after: asked, sent: details, schema: plugin.connection });
          await requireRolesAtRest(records.staticRoles, moved);
          const open = await tried(name, asked, req.signal);
          const changed = withSecretFields(asked, write, before, plugin.connection);
          const { record, replaced } = await connectionAfterMove(connections, records, { name, before, record: changed });
          const stored = await closingOnFailure(open, async () =>
            req.storage.transaction(async (tx) => {
              const inside = recordsIn(tx);
              const current = await inside.connections.get(name);
              const fitting = reconciled(name, record, write, [before, current], host.clock.millis());
              if (!fitting) return undefined;
              await requireRolesAtRest(inside.staticRoles, moved);
              if (before && replaced.moved) await inside.retired.put(before.id, { name, record: before });
              if (replaced.revived !== undefined) await inside.retired.delete(replaced.revived);
              const settled = await withRootClaim(tx, connections, name, fitting);
              return roots.store(tx, { name, record: settled }, { before: current, adopt: req.data.adopt });
            }),
          );
          if (stored) {
            if (before && before.id !== stored.id) connections.remove(before.id);
            if (replaced.moved && before) await dropIfUnused(req.storage, before.id);
            connections.adopt({ name, record: stored }, open);
            await host.retry(name);
            const remarks = await connectionRemarks(host, plugin, stored, details, OWN_FIELDS);
            const sharing = await roots.sharingRemarks({ name, record: stored });
            const warnings = [...(passwordInUrl(open, stored) ? [PASSWORD_IN_URL] : []), ...remarks, ...sharing];
            return warnings.length === 0 ? undefined : { warnings };
          }
          if (attempt === ATTEMPTS) throw new BadRequest(`the connection ${name} is being changed by others; try again`);
        }
      },
    })
    .delete({
      summary: 'Deletes a connection. Its leases stay, and can be revoked.',
      response: NoContent,
      handle: async (req) => {
        const { name } = req.data;
        const record = await records.connections.get(name);
        if (!record) return undefined;
        const live = await countLiveUsers(records.users, record.id);
        const warnings = [
          liveUsersWarning(live, 'made through this connection', 'renewed and revoked as before'),
          await staticRolesWarning(records.staticRoles, name),
        ].filter((warning) => warning !== undefined);
        await req.storage.transaction(async (tx) => {
          const inside = recordsIn(tx);
          const current = await inside.connections.get(name);
          if (!current) return;
          requireRootAtRest(name, current, host.clock.millis());
          await inside.retired.put(current.id, { name, record: current });
          await roots.rotation.remove(tx, name);
        });
        await dropIfUnused(req.storage, record.id);
        connections.remove(record.id);
        return warnings.length === 0 ? undefined : { warnings };
      },
    });

  /** @throws BadRequest */
  function pluginOf(record: ConnectionRecord): AnyDatabasePlugin {
    try {
      return connections.requirePlugin(record);
    } catch (error) {
      throw creationRefused(error);
    }
  }

  /** @throws BadRequest that names the field */
  function requireSettings(connection: NamedConnection): void {
    try {
      connections.requireSettings(connection);
    } catch (error) {
      throw creationRefused(error);
    }
  }

  function schemaOf(record: ConnectionRecord): TObject {
    return connections.plugin(record)?.connection ?? Type.Object({});
  }

  async function tried(name: string, record: ConnectionRecord, signal: AbortSignal): Promise<OpenConnection> {
    let open: OpenConnection | undefined;
    try {
      open = await connections.openApart({ name, record });
      if (record.verify_connection && !record.self_managed) await open.session.verify(signal);
      return open;
    } catch (error) {
      await open?.session.close().catch(() => undefined);
      throw creationRefused(error);
    }
  }

  const list = namesPath('config', records.connections, { synopsis: 'The names of the connections.', summary: 'Lists the connections.' });

  return [config, list];
}

/** What `store` resolves with; where that is nothing, or it throws, the session is not needed. */
async function closingOnFailure<T>(open: OpenConnection, store: () => Promise<T>): Promise<T> {
  let stored: T | undefined;
  try {
    return (stored = await store());
  } finally {
    if (stored === undefined) await open.session.close().catch(() => undefined);
  }
}

function passwordInUrl({ plugin }: OpenConnection, { details }: ConnectionRecord): boolean {
  return connectionUrlFields(plugin.connection).some((field) => {
    const url = details[field];
    return typeof url === 'string' && connectionUrlPasswords(url).length > 0;
  });
}
