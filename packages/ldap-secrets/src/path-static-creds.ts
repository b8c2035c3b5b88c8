import { BadRequest, f, path, Unavailable, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import {
  doubtAbout,
  retriedAfter,
  secondsToRotation,
  visiblePlan,
  visiblePlanFields,
  type CurrentCredential,
  warned,
} from '@strongroom/rotation';
import { Type } from 'typebox';
import { DirectoryFailed } from './directory-failed.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import { lastRotation } from './rotation-time.ts';
import type { StaticAccounts } from './static-accounts.ts';

export function staticCredPaths(host: EngineHost, accounts: StaticAccounts): readonly AnyPath[] {
  const { staticRoles } = recordsIn(host.storage);
  const name = f.lowercase('Name of the static role.', { required: true });

  const cred = path('static-cred/{name}', {
    synopsis: 'The current passwords of static roles.',
    description: 'No lease: the password is good until the next rotation, which is ttl seconds away. last_password is the one before.',
    fields: { name },
  }).read({
    summary: 'Reads the current password of a static role.',
    response: Type.Object({
      dn: Type.String(),
      username: Type.String(),
      password: Type.String({ description: 'Empty before the first rotation.' }),
      last_password: Type.String(),
      ttl: Type.Number({ description: 'Seconds until the next rotation.' }),
      ...visiblePlanFields,
      last_vault_rotation: Type.String(),
    }),
    handle: async (req) => {
      const role = await staticRoles.get(req.data.name);
      if (!role) throw new BadRequest(`unknown role: ${req.data.name}`);
      const found = await accounts.rotation.current(req.data.name, req.signal);
      if (!found && role.pending) throw new Unavailable(unfinished(req.data.name, role));
      const { record, credential, since } = found ?? { record: role, credential: '', since: 0 };
      return {
        data: {
          dn: record.dn,
          username: record.username,
          password: credential,
          last_password: found ? lastPassword(found) : '',
          ttl: found ? secondsToRotation(record, host.clock.millis()) : 0,
          ...visiblePlan(record),
          last_vault_rotation: lastRotation(since),
        },
        ...warnings(found),
      };
    },
  });

  const rotate = path('rotate-role/{name}', {
    synopsis: 'Rotates the password of a static role now.',
    description: 'The time to the next rotation begins anew.',
    fields: { name },
  }).update({
    summary: 'Rotates now.',
    handle: async (req) => {
      try {
        return warned(await accounts.rotation.rotate(req.data.name, req.signal));
      } catch (error) {
        if (!(error instanceof DirectoryFailed)) throw error;
        throw new DirectoryFailed(retriedAfter(error.message), error.outcome, error);
      }
    },
  });

  return [cred, rotate];
}

function unfinished(name: string, { last_error }: StaticRoleRecord): string {
  if (!last_error) return `the static role ${name} is being created`;
  return `the first rotation of the static role ${name} is not through, and is tried again: ${last_error.message}`;
}

function warnings(found: CurrentCredential<StaticRoleRecord, string> | undefined): { readonly warnings?: readonly string[] } {
  if (found?.takenOver !== undefined) return { warnings: [found.takenOver] };
  return found?.doubtful ? { warnings: [doubtAbout('password')] } : {};
}

function lastPassword({ record, credential }: CurrentCredential<StaticRoleRecord, string>): string {
  return (credential === record.current ? record.previous : record.current) ?? '';
}
