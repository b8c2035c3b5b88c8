import { type AnyPath, BadRequest, type EngineHost, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Connections } from './connections.ts';
import { recordsIn } from './records.ts';

export function resetPaths(host: EngineHost, connections: Connections): readonly AnyPath[] {
  const reset = path('reset/{name}', {
    synopsis: 'Restarts a connection.',
    description: 'Closes the connection and its plugin and opens it with the stored settings. Also ends a quarantine.',
    fields: { name: f.name('Name of the connection.') },
  }).update({
    summary: 'Closes and opens a connection.',
    response: NoContent,
    handle: async (req) => {
      const connection = await connections.require(req.data.name);
      connections.forget(connection.record.id);
      await connections.use(connection, async ({ session }) => {
        if (connection.record.verify_connection) await session.verify(req.signal);
      });
      return undefined;
    },
  });

  const reload = path('reload/{plugin}', {
    synopsis: 'Restarts all connections of a plugin.',
    description: 'Closes the sessions of every connection that uses the plugin; each is opened at its next use.',
    fields: { plugin: f.name('Name of the plugin.') },
  }).update({
    summary: 'Closes the connections of a plugin.',
    response: Type.Object({ connections: Type.Array(Type.String()), count: Type.Integer() }),
    handle: async (req) => {
      const { plugin } = req.data;
      const all = await recordsIn(host.storage).connections.entries();
      const using = all.filter(([, record]) => record.plugin_name === plugin);
      if (using.length === 0 && !host.plugins('database').some(({ name }) => name === plugin)) {
        throw new BadRequest(`plugin not found in the catalog: ${plugin}`);
      }
      for (const [, record] of using) connections.forget(record.id);
      return { data: { connections: using.map(([name]) => name), count: using.length } };
    },
  });

  return [reset, reload];
}
