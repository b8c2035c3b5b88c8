import { BadRequest, f, Unavailable, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { staticCredsPaths } from '@strongroom/rotation';
import { Type } from 'typebox';
import { lostText } from './managed-keys.ts';
import { recordsIn } from './records.ts';
import type { StaticKeys } from './static-keys.ts';

export function cloudCredsPaths(host: EngineHost, { rotation }: StaticKeys): readonly AnyPath[] {
  const { staticRoles } = recordsIn(host.storage);
  return staticCredsPaths(host.clock, {
    creds: 'static-creds/{name:at}',
    rotateRole: 'rotate-role/{name:at}',
    name: f.name('Name of the static role.'),
    noun: 'key',
    goesOn: ', and for grace_period after it.',
    verb: 'Replaces',
    showsPlan: false,
    response: { access_key: Type.String(), secret_key: Type.String({ secret: true }) },
    ttl: 'Seconds until the next rotation; 0 where none is planned.',
    read: async (name) => {
      let role = await staticRoles.get(name);
      if (role?.pending) {
        await rotation.settled(name);
        role = await staticRoles.get(name);
      }
      if (!role) return undefined;
      const { current, pending, last_error } = role;
      // A user may have so few keys that the one in use makes room for the next.
      if (!current || pending?.room === current.access_key) {
        const reason = last_error ? `: ${last_error.message}` : '';
        throw new Unavailable(`the key of the static role ${JSON.stringify(name)} is being made${reason}`);
      }
      const lost = await rotation.lostTo(name, role);
      const { access_key, secret_key } = current;
      return { data: { access_key, secret_key }, role, since: role.last_rotation, warnings: [lost && lostText(role.username, lost)] };
    },
    rotate: async (name, signal) => {
      if (!(await staticRoles.has(name))) throw new BadRequest(`no static role found for role name ${JSON.stringify(name)}`);
      await rotation.rotate(name, signal);
      return undefined;
    },
  });
}
