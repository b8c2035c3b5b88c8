import { BadRequest, f, leased, namesPath, NoContent, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { DynamicUsers } from './dynamic-users.ts';
import type { BrokerService } from './broker-service.ts';
import { leaseTerms } from './lease-terms.ts';
import { recordsIn, RoleRecord } from './records.ts';
import { creationOf, roleFields, roleOf } from './role.ts';

const SAMPLE_PASSWORD = 'SAMPLE-password';

export function rolePaths(host: EngineHost, service: BrokerService, users: DynamicUsers): readonly AnyPath[] {
  const { roles } = recordsIn(host.storage);
  const name = f.name('Name of the role.');

  const role = path('roles/{name}', {
    synopsis: 'Roles that create users for a lease.',
    description: 'A write sets the whole role: what it leaves out is empty. It counts for the users that are created from then on.',
    fields: { name, ...roleFields },
  })
    .read({
      summary: 'Reads a role.',
      response: RoleRecord,
      handle: async (req) => {
        const record = await roles.get(req.data.name);
        return record && { data: record };
      },
    })
    .upsert({
      summary: 'Creates or changes a role.',
      response: NoContent,
      exists: async (req) => roles.has(req.data.name),
      handle: async (req) => {
        await roles.put(req.data.name, roleOf(req.data));
        return undefined;
      },
    })
    .delete({
      summary: 'Deletes a role. Its users stay until their leases end.',
      response: NoContent,
      handle: async (req) => {
        await roles.delete(req.data.name);
        return undefined;
      },
    });

  const preview = path('roles/{name}/preview', {
    synopsis: 'What creds would do.',
    description:
      'Shows the calls that create a user of the role, with a sample password. Nothing is sent to RabbitMQ or stored. With parameters of a role, those count ' +
      'in place of the stored one, which need not exist then.',
    fields: { name, ...roleFields },
  }).update({
    summary: 'Shows the calls that create a user of the role.',
    response: Type.Object({
      username: Type.String({ description: 'Made as a real one is; the next one is another.' }),
      lease_duration: Type.Number({ description: 'Seconds.' }),
      calls: Type.Array(
        Type.Object({ method: Type.String(), path: Type.String(), body: Type.Optional(Type.Record(Type.String(), Type.String())) }),
        { description: 'In order, as they would be sent.' },
      ),
    }),
    handle: async (req) => {
      const { name: roleName, ...sent } = req.data;
      const isSent = Object.values(sent).some((value) => value !== undefined);
      const record = isSent ? roleOf(sent) : await roles.get(roleName);
      if (!record) throw new BadRequest(`unknown role: ${roleName}`);
      const connection = await service.read();
      const username = users.names(connection?.username_template ?? '').next(req.caller.displayName, roleName);
      const calls = creationOf(record, username, SAMPLE_PASSWORD).map(({ method, path: at, body }) => ({
        method,
        path: at,
        body: { ...body },
      }));
      return { data: { username, lease_duration: host.limit(await leaseTerms(req.storage)).ttl, calls } };
    },
  });

  const creds = path('creds/{name}', {
    synopsis: 'Users for a lease.',
    description: 'Each read creates a user of the role. When the lease ends, the user is deleted and RabbitMQ closes its connections.',
    fields: { name },
  }).read({
    summary: 'Issues a user.',
    response: leased(Type.Object({ username: Type.String(), password: Type.String({ secret: true }) })),
    handle: async (req) => {
      const record = await roles.get(req.data.name);
      if (!record) throw new BadRequest(`unknown role: ${req.data.name}`);
      return users.create(req, req.data.name, record);
    },
  });

  return [role, preview, creds, namesPath('roles', roles, { synopsis: 'The names of the roles.' })];
}
