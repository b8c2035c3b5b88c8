import { BadRequest, f, Unavailable, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { doubtAbout, lastRotation, retriedAfter, staticCredsPaths } from '@strongroom/rotation';
import { Type } from 'typebox';
import { DatabaseFailed, DatabaseMisused } from './call-failed.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import { endedEarly, PreviousCredential, previousCredential } from './previous-credential.ts';
import { handedOut } from './static-pair.ts';
import type { StaticUsers } from './static-users.ts';

const NOT_KNOWN =
  'the credential is not known before the first rotation: the role was created with skip_import_rotation and without a password';

export function databaseCredsPaths(host: EngineHost, { rotation }: StaticUsers): readonly AnyPath[] {
  const { staticRoles } = recordsIn(host.storage);
  return staticCredsPaths(host.clock, {
    creds: 'static-creds/{name}',
    rotateRole: 'rotate-role/{name}',
    name: f.name('Name of the static role.'),
    noun: 'credential',
    showsPlan: true,
    time: lastRotation,
    response: {
      username: Type.String(),
      previous: Type.Optional(PreviousCredential),
      password: Type.Optional(Type.String({ secret: true })),
      rsa_private_key: Type.Optional(Type.String({ description: 'PEM, PKCS #8.', secret: true })),
      client_certificate: Type.Optional(Type.String({ description: 'PEM.' })),
      private_key: Type.Optional(Type.String({ description: 'PEM, PKCS #8.', secret: true })),
      private_key_type: Type.Optional(Type.String()),
    },
    read: async (name, signal) => {
      const stored = await staticRoles.get(name);
      if (!stored) throw new BadRequest(`unknown role: ${name}`);
      const found = await rotation.current(name, signal);
      if (!found && stored.pending) throw new Unavailable(unfinished(name, stored));
      if (!found) return { data: unknownCredential(stored), role: stored, since: 0, warnings: [NOT_KNOWN] };
      const { record: role, credential, since, doubtful, takenOver } = found;
      const warnings = [doubtful ? doubtAbout('credential') : undefined, takenOver];
      const previous = previousCredential(role, host.clock.millis());
      return { data: { username: handedOut(role), ...credential.data, ...(previous ? { previous } : {}) }, role, since, warnings };
    },
    rotate: async (name, signal) => {
      const role = await staticRoles.get(name);
      if (!role) throw new BadRequest('no static role found for role name');
      try {
        const ended = endedEarly(role, host.clock.millis());
        const warning = await rotation.rotate(name, signal);
        return [warning, ended].filter((text) => text !== undefined).join('; ') || undefined;
      } catch (error) {
        if (error instanceof DatabaseFailed) throw new DatabaseFailed(role.db_name, retriedAfter(error.detail), error.outcome);
        if (error instanceof DatabaseMisused) throw new DatabaseMisused(`unable to finish rotating credentials: ${error.message}`);
        throw error;
      }
    },
  });
}

/** A role whose credential was left as it is has none to show before the first rotation. */
function unknownCredential({ username, credential_type: type }: StaticRoleRecord): { username: string; password?: string } {
  return type === 'password' ? { username, password: '' } : { username };
}

function unfinished(name: string, { last_error }: StaticRoleRecord): string {
  if (!last_error) return `the static role ${name} is being created`;
  return `the first rotation of the static role ${name} has not finished and will be retried: ${last_error.message}`;
}
