import { BadRequest, f, path, Unavailable, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { doubtAbout, retriedAfter, secondsToRotation, visiblePlan, visiblePlanFields, warned } from '@strongroom/rotation';
import { Type } from 'typebox';
import { DatabaseFailed, DatabaseMisused } from './call-failed.ts';
import { recordsIn } from './records.ts';
import type { StaticUsers } from './static-users.ts';

export function staticCredsPaths(host: EngineHost, users: StaticUsers): readonly AnyPath[] {
  const { staticRoles } = recordsIn(host.storage);

  const creds = path('static-creds/{name}', {
    synopsis: 'The current credentials of static roles.',
    description: 'No lease: the credential is good until the next rotation, which is ttl seconds away.',
    fields: { name: f.name('Name of the static role.') },
  }).read({
    summary: 'Reads the current credential of a static role.',
    response: Type.Object({
      username: Type.String(),
      password: Type.Optional(Type.String()),
      rsa_private_key: Type.Optional(Type.String({ description: 'PEM, PKCS #8.' })),
      client_certificate: Type.Optional(Type.String({ description: 'PEM.' })),
      private_key: Type.Optional(Type.String({ description: 'PEM, PKCS #8.' })),
      private_key_type: Type.Optional(Type.String()),
      ttl: Type.Number({ description: 'Seconds until the next rotation.' }),
      ...visiblePlanFields,
      last_vault_rotation: Type.String(),
    }),
    handle: async (req) => {
      const { name } = req.data;
      if (!(await staticRoles.has(name))) throw new BadRequest(`unknown role: ${name}`);
      const found = await users.rotation.current(name, req.signal);
      if (!found) throw new Unavailable(`the static role ${name} is being created`);
      const { record: role, credential: made, since, doubtful, takenOver } = found;
      const warnings = [...(doubtful ? [doubtAbout('credential')] : []), ...(takenOver === undefined ? [] : [takenOver])];
      return {
        data: {
          username: role.username,
          ...made.data,
          ttl: secondsToRotation(role, host.clock.millis()),
          ...visiblePlan(role),
          last_vault_rotation: new Date(since).toISOString(),
        },
        ...(warnings.length > 0 ? { warnings } : {}),
      };
    },
  });

  const rotate = path('rotate-role/{name}', {
    synopsis: 'Rotates the credential of a static role now.',
    description: 'The time to the next rotation begins anew.',
    fields: { name: f.name('Name of the static role.') },
  }).update({
    summary: 'Rotates now.',
    handle: async (req) => {
      const { name } = req.data;
      const role = await staticRoles.get(name);
      if (!role) throw new BadRequest('no static role found for role name');
      try {
        return warned(await users.rotation.rotate(name, req.signal));
      } catch (error) {
        if (error instanceof DatabaseFailed) throw new DatabaseFailed(role.db_name, retriedAfter(error.detail), error.outcome);
        if (error instanceof DatabaseMisused) throw new DatabaseMisused(`unable to finish rotating credentials: ${error.message}`);
        throw error;
      }
    },
  });

  return [creds, rotate];
}
