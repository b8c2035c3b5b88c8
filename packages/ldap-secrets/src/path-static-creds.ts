import { BadRequest, Unavailable, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { doubtAbout, lastRotation, retriedAfter, staticCredsPaths, type CurrentCredential } from '@strongroom/rotation';
import { Type } from 'typebox';
import { DirectoryFailed } from '@strongroom/ldap-client';
import { pathName } from './path-name.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import type { StaticAccounts } from './static-accounts.ts';

export function directoryCredPaths(host: EngineHost, { rotation }: StaticAccounts): readonly AnyPath[] {
  const { staticRoles } = recordsIn(host.storage);
  return staticCredsPaths(host.clock, {
    creds: 'static-cred/{name:path}',
    rotateRole: 'rotate-role/{name:path}',
    name: pathName('static role'),
    noun: 'password',
    goesOn: '. last_password is the previous one.',
    showsPlan: true,
    response: {
      dn: Type.String(),
      username: Type.String(),
      password: Type.String({ description: 'Empty before the first rotation.', secret: true }),
      last_password: Type.String({ secret: true }),
    },
    time: lastRotation,
    read: async (name, signal) => {
      const role = await staticRoles.get(name);
      if (!role) throw new BadRequest(`unknown role: ${name}`);
      const found = await rotation.current(name, signal);
      if (!found && role.pending) throw new Unavailable(unfinished(name, role));
      if (!found) {
        const { dn, username } = role;
        return { data: { dn, username, password: '', last_password: '' }, role: { ...role, next_rotation: 0 }, since: 0 };
      }
      const { record, credential, since } = found;
      const { dn, username } = record;
      const data = { dn, username, password: credential, last_password: previousPassword(found) };
      return { data, role: record, since, warnings: [found.takenOver ?? (found.doubtful ? doubtAbout('password') : undefined)] };
    },
    rotate: async (name, signal) => {
      try {
        return await rotation.rotate(name, signal);
      } catch (error) {
        if (!(error instanceof DirectoryFailed)) throw error;
        throw new DirectoryFailed(retriedAfter(error.message), error.outcome, error);
      }
    },
  });
}

function unfinished(name: string, { last_error }: StaticRoleRecord): string {
  if (!last_error) return `the static role ${name} is being created`;
  return `the first rotation of the static role ${name} has not finished and will be retried: ${last_error.message}`;
}

function previousPassword({ record, credential }: CurrentCredential<StaticRoleRecord, string>): string {
  return (credential === record.current ? record.previous : record.current) ?? '';
}
