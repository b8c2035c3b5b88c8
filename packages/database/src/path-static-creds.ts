import { BadRequest, f, Unavailable, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { doubtAbout, retriedAfter, staticCredsPaths } from '@strongroom/rotation';
import { Type } from 'typebox';
import { DatabaseFailed, DatabaseMisused } from './call-failed.ts';
import { recordsIn } from './records.ts';
import type { StaticUsers } from './static-users.ts';

export function databaseCredsPaths(host: EngineHost, { rotation }: StaticUsers): readonly AnyPath[] {
  const { staticRoles } = recordsIn(host.storage);
  return staticCredsPaths(host.clock, {
    creds: 'static-creds/{name}',
    rotateRole: 'rotate-role/{name}',
    name: f.name('Name of the static role.'),
    noun: 'credential',
    showsPlan: true,
    response: {
      username: Type.String(),
      password: Type.Optional(Type.String({ secret: true })),
      rsa_private_key: Type.Optional(Type.String({ description: 'PEM, PKCS #8.', secret: true })),
      client_certificate: Type.Optional(Type.String({ description: 'PEM.' })),
      private_key: Type.Optional(Type.String({ description: 'PEM, PKCS #8.', secret: true })),
      private_key_type: Type.Optional(Type.String()),
    },
    read: async (name, signal) => {
      if (!(await staticRoles.has(name))) throw new BadRequest(`unknown role: ${name}`);
      const found = await rotation.current(name, signal);
      if (!found) throw new Unavailable(`the static role ${name} is being created`);
      const { record: role, credential, since, doubtful, takenOver } = found;
      const warnings = [doubtful ? doubtAbout('credential') : undefined, takenOver];
      return { data: { username: role.username, ...credential.data }, role, since, warnings };
    },
    rotate: async (name, signal) => {
      const role = await staticRoles.get(name);
      if (!role) throw new BadRequest('no static role found for role name');
      try {
        return await rotation.rotate(name, signal);
      } catch (error) {
        if (error instanceof DatabaseFailed) throw new DatabaseFailed(role.db_name, retriedAfter(error.detail), error.outcome);
        if (error instanceof DatabaseMisused) throw new DatabaseMisused(`unable to finish rotating credentials: ${error.message}`);
        throw error;
      }
    },
  });
}
