import { BadRequest, f, namesPath, NoContent, path, Unavailable, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import {
  doubtAbout,
  importedPassword,
  lastRotation,
  planOf,
  refuseImport,
  retriedAfter,
  rotationPlanParameters,
  staticCredsPaths,
  staticRoleRead,
  warned,
  type SentImport,
  type SentPlan,
} from '@strongroom/rotation';
import { Type } from 'typebox';
import { BrokerFailed } from './broker-failed.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import type { StaticUsers } from './static-users.ts';

const NOT_KNOWN =
  'the password is not known before the first rotation: the role was created with skip_import_rotation and without a password';

export function staticRolePaths(host: EngineHost, users: StaticUsers): readonly AnyPath[] {
  const { staticRoles } = recordsIn(host.storage);

  const role = path('static-roles/{name}', {
    synopsis: 'Roles that rotate the password of a user that RabbitMQ already has.',
    description:
      'The password is changed when the role is created, unless that is skipped, and then every rotation_period, or by rotation_schedule (UTC). ' +
      'Tags and permissions stay. Deleting the role leaves the user and its password in RabbitMQ.',
    fields: {
      name: f.name('Name of the static role.'),
      username: f.string('The user of RabbitMQ. It cannot be changed.'),
      ...rotationPlanParameters,
      adopt: f.bool('Take the user over from the role or mount that manages it now. On an existing role: take it back.', {
        default: false,
      }),
      skip_import_rotation: f.bool('Leave the password as it is until the plan brings the first rotation; only at creation.'),
      password: f.secret('The password that the user has now, with skip_import_rotation. It is never shown but by static-creds.'),
      verify: f.bool('Log in with the password before it is stored.', { default: true }),
    },
  })
    .read(
      staticRoleRead({
        roles: staticRoles,
        response: { username: Type.String() },
        visible: (_name, { username }: StaticRoleRecord) => ({ username }),
        status: async (name, record) => users.rotation.status(name, record),
      }),
    )
    .upsert({
      summary: 'Creates a static role, which rotates the password, or changes it.',
      response: NoContent,
      exists: async (req) => staticRoles.has(req.data.name),
      handle: async (req) => {
        const { name, adopt } = req.data;
        const before = await staticRoles.get(name);
        if (!before || neverRotated(before)) {
          const role = roleAfter(undefined, req.data);
          const given = importedPassword(req.data, 'user');
          if (!given) return warned(await users.create(name, role, req.signal, adopt));
          await users.createUnrotated(name, role, given, req.signal, adopt);
          return undefined;
        }
        const isBack = await host.storage.transaction(async (tx) => {
          const current = await recordsIn(tx).staticRoles.get(name);
          if (!current) throw new BadRequest(`unknown role: ${name}`);
          await users.rotation.update(tx, name, current, roleAfter(current, req.data));
          return adopt && (await users.rotation.takeBack(tx, name));
        });
        return isBack ? warned(await users.rotate(name, req.signal)) : undefined;
      },
    })
    .delete({
      summary: 'Deletes a static role. The user stays in RabbitMQ, with the password that it has.',
      response: NoContent,
      handle: async (req) => {
        await req.storage.transaction(async (tx) => users.rotation.remove(tx, req.data.name));
        return undefined;
      },
    });

  const creds = staticCredsPaths(host.clock, {
    creds: 'static-creds/{name}',
    rotateRole: 'rotate-role/{name}',
    name: f.name('Name of the static role.'),
    noun: 'password',
    showsPlan: true,
    time: lastRotation,
    response: { username: Type.String(), password: Type.Optional(Type.String({ secret: true })) },
    read: async (name, signal) => {
      const record = await staticRoles.get(name);
      if (!record) throw new BadRequest(`unknown role: ${name}`);
      const found = await users.rotation.current(name, signal);
      if (!found && (record.pending || record.last_error)) throw new Unavailable(unfinished(name, record));
      if (!found) return { data: { username: record.username }, role: record, since: 0, warnings: [NOT_KNOWN] };
      const { credential: password, since, doubtful, takenOver } = found;
      const data = { username: found.record.username, password };
      return { data, role: found.record, since, warnings: [takenOver ?? (doubtful ? doubtAbout('password') : undefined)] };
    },
    rotate: async (name, signal) => {
      try {
        return await users.rotate(name, signal);
      } catch (error) {
        if (!(error instanceof BrokerFailed)) throw error;
        throw new BrokerFailed(retriedAfter(error.message), error.outcome, { answered: error.answered, cause: error });
      }
    },
  });

  return [role, ...creds, namesPath('static-roles', staticRoles, { synopsis: 'The names of the static roles.' })];
}

interface Sent extends SentPlan, SentImport {
  readonly username: string | undefined;
}

/** A creation that never got through: it is begun again. */
function neverRotated({ current, pending }: StaticRoleRecord): boolean {
  return current === undefined && pending !== undefined;
}

function roleAfter(before: StaticRoleRecord | undefined, sent: Sent): StaticRoleRecord {
  if (before) refuseImport(sent);
  const username = sent.username ?? before?.username ?? '';
  if (username.trim() === '') throw new BadRequest('username is a required field to create a static role');
  if (before && username !== before.username) throw new BadRequest('username of a static role cannot be changed: create another role');
  // A login by HTTP proves the password, and separates the two by a colon.
  if (username.includes(':')) throw new BadRequest('username must not contain a colon');
  return { last_rotation: 0, next_rotation: 0, ...before, username, ...planOf(before, sent) };
}

function unfinished(name: string, { last_error }: StaticRoleRecord): string {
  if (!last_error) return `the static role ${name} is being created`;
  return `the first rotation of the static role ${name} has not finished and will be retried: ${last_error.message}`;
}
