import { BadRequest, f, path, Unavailable, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { secondsToRotation } from '@strongroom/rotation';
import { Type } from 'typebox';
import { lostText } from './managed-keys.ts';
import { recordsIn } from './records.ts';
import type { StaticKeys } from './static-keys.ts';

export function staticCredsPaths(host: EngineHost, keys: StaticKeys): readonly AnyPath[] {
  const { staticRoles } = recordsIn(host.storage);

  const creds = path('static-creds/{name:at}', {
    synopsis: 'The current keys of static roles.',
    description: 'No lease: the key is good until the next rotation, which is ttl seconds away, and for grace_period after it.',
    fields: { name: f.name('Name of the static role.') },
  }).read({
    summary: 'Reads the current key of a static role.',
    response: Type.Object({
      access_key: Type.String(),
      secret_key: Type.String(),
      ttl: Type.Number({ description: 'Seconds until the next rotation; 0 where none is planned.' }),
      last_vault_rotation: Type.String(),
    }),
    handle: async (req) => {
      const { name } = req.data;
      let role = await staticRoles.get(name);
      if (role?.pending) {
        await keys.rotation.settled(name);
        role = await staticRoles.get(name);
      }
      if (!role) return undefined;
      const { current, pending, last_error } = role;
      // A user may have so few keys that the one in use makes room for the next.
      if (!current || pending?.room === current.access_key) {
        const reason = last_error ? `: ${last_error.message}` : '';
        throw new Unavailable(`the key of the static role ${JSON.stringify(name)} is being made${reason}`);
      }
      const lost = await keys.rotation.lostTo(name, role);
      return {
        data: {
          ...current,
          ttl: secondsToRotation(role, host.clock.millis()),
          last_vault_rotation: new Date(role.last_rotation).toISOString(),
        },
        ...(lost ? { warnings: [lostText(role.username, lost)] } : {}),
      };
    },
  });

  const rotate = path('rotate-role/{name:at}', {
    synopsis: 'Replaces the key of a static role now.',
    description: 'The time to the next rotation begins anew.',
    fields: { name: f.name('Name of the static role.') },
  }).update({
    summary: 'Rotates now.',
    handle: async (req) => {
      const { name } = req.data;
      if (!(await staticRoles.has(name))) throw new BadRequest(`no static role found for role name ${JSON.stringify(name)}`);
      await keys.rotation.rotate(name, req.signal);
      return undefined;
    },
  });

  return [creds, rotate];
}
