import { type AnyPath, BadRequest, type EngineHost, f, namesPath, NoContent, path, TooManyRequests } from '@strongroom/engine-sdk';
import {
  type ImportedPassword,
  importedPassword,
  planOf,
  refuseImport,
  rotationPlanParameters,
  type SentImport,
  type SentPlan,
  staticRoleRead,
  warned,
} from '@strongroom/rotation';
import { Type } from 'typebox';
import { DatabaseFailed, DatabaseMisused } from './call-failed.ts';
import type { Connections } from './connections.ts';
import { checkCredentialConfig, checkCredentialType } from './credential-config.ts';
import { requirePasswordPlaceholder } from './placeholders.ts';
import { requireCredentialType } from './role-checks.ts';
import { recordsIn, type ConnectionRecord, type StaticRoleRecord } from './records.ts';
import { credentialFields, visibleCredentialConfig } from './role-fields.ts';
import { checkGrace, requireTwoPasswords } from './grace-period.ts';
import { checkSelfManaged } from './self-managed.ts';
import { usersAfter } from './static-pair.ts';
import { withOwnPassword, type StaticUsers } from './static-users.ts';

export function staticRolePaths(host: EngineHost, connections: Connections, users: StaticUsers): readonly AnyPath[] {
  const records = recordsIn(host.storage);

  const role = path('static-roles/{name}', {
    synopsis: 'Roles that rotate the credential of a user that the database already has.',
    description:
      'The credential is changed when the role is created, unless that is skipped, and then every rotation_period, or by rotation_schedule ' +
      '(UTC). Deleting the role leaves the user and its credential in the database.',
    fields: {
      name: f.name('Name of the static role.'),
      username: f.string('The user of the database. It cannot be changed, and every write names it. Excludes usernames.'),
      usernames: f.commaStrings(
        'A pair of users in place of username: a rotation changes the one that is not handed out, then hands it out. They cannot be changed.',
      ),
      db_name: f.string('Name of the connection.', { title: 'Connection' }),
      ...rotationPlanParameters,
      grace_period: f.duration(
        'How long the password before a rotation stays good, where the database takes two passwords of one user; 0: the rotation ends it.',
      ),
      rotation_statements: f.statements("Statements that change the credential. Empty: the plugin's own."),
      ...credentialFields,
      skip_import_rotation: f.bool('Leave the credential as it is until the plan brings the first rotation; only at creation.'),
      password: f.secret('The password that the user has now, with skip_import_rotation. It is never shown but by static-creds.'),
      self_managed_password: f.secret(
        'The password that the user has now, on a self_managed connection: the user changes it by itself. Also where it was changed outside.',
      ),
      verify: f.bool('Log in with the password before it is stored.', { default: true }),
      adopt: f.bool('Take the user over from the role, connection or mount that manages it now.', { default: false }),
    },
  })
    .read(
      staticRoleRead({
        roles: records.staticRoles,
        response: {
          db_name: Type.String(),
          username: Type.Optional(Type.String()),
          usernames: Type.Optional(Type.Array(Type.String(), { description: 'The users of a pair, in place of username.' })),
          credential_type: Type.String(),
          grace_period: Type.Optional(Type.Number({ description: 'Seconds.' })),
          self_managed: Type.Optional(Type.Boolean()),
          rotation_statements: Type.Array(Type.String()),
          credential_config: Type.Optional(Type.Record(Type.String(), Type.String())),
        },
        visible: (_name, role: StaticRoleRecord) => ({
          db_name: role.db_name,
          ...(role.usernames ? { usernames: role.usernames } : { username: role.username }),
          credential_type: role.credential_type,
          ...(role.grace_period ? { grace_period: role.grace_period } : {}),
          ...(role.self_managed ? { self_managed: true } : {}),
          rotation_statements: role.rotation_statements,
          ...visibleCredentialConfig(role.credential_config),
        }),
        status: async (name, record) => users.rotation.status(name, record),
      }),
    )
    .upsert({
      summary: 'Creates a static role, which rotates the credential, or changes it.',
      response: NoContent,
      exists: async (req) => records.staticRoles.has(req.data.name),
      handle: async (req) => {
        const { name } = req.data;
        const before = await records.staticRoles.get(name);
        if (before && !(before.current === undefined && before.pending !== undefined)) {
          await update(name, before, req.data, req.signal);
          return undefined;
        }
        const { adopt } = req.data;
        if (await records.roles.has(name)) throw new BadRequest('Role and Static Role names must be unique');
        const record = changed(undefined, req.data);
        const connection = await connections.forRole(record.db_name, name);
        checkStatements(connection.record, record);
        const { self_managed_password: ownPassword } = req.data;
        checkSelfManaged(record, connection.record, req.data);
        await requireTwoPasswords(connections, record, req.signal);
        const given = importOf(req.data, record, connection.record.skip_static_role_import_rotation);
        const identified = await users.identified(name, record, adopt);
        if (given && ownPassword === undefined) return warned(await users.createUnrotated(name, identified, given, req.signal, adopt));
        if (ownPassword !== undefined) {
          const own = { password: ownPassword, skipRotation: given !== undefined };
          return warned(await users.createSelfManaged(name, identified, own, req.signal, adopt));
        }
        try {
          return warned(await users.create(name, identified, req.signal, adopt));
        } catch (error) {
          if (error instanceof DatabaseFailed) {
            throw new DatabaseFailed(record.db_name, `error setting credentials: ${error.detail}`, error.outcome);
          }
          if (error instanceof DatabaseMisused) throw new DatabaseMisused(`error setting credentials: ${error.message}`);
          throw error;
        }
      },
    })
    .delete({
      summary: 'Deletes a static role. The user stays in the database, with the credential that it has.',
      response: NoContent,
      handle: async (req) => {
        const { name } = req.data;
        const role = await records.staticRoles.get(name);
        await req.storage.transaction(async (tx) => users.rotation.remove(tx, name));
        return warned(role && stillGood(role));
      },
    });

  async function update(name: string, before: StaticRoleRecord, sent: Sent, signal: AbortSignal): Promise<void> {
    const seen = changed(before, sent);
    const { self_managed_password: password } = sent;
    if (password !== undefined) {
      checkSelfManaged(seen, (await connections.require(seen.db_name)).record, sent);
      await users.requireOwnPassword(seen, password, signal);
    }
    if (seen.grace_period !== before.grace_period) await requireTwoPasswords(connections, seen, signal);
    await host.storage.transaction(async (tx) => {
      const stored = await recordsIn(tx).staticRoles.get(name);
      if (!stored) throw new BadRequest(`unknown role: ${name}`);
      if (password !== undefined) requireAtRest(name, stored, host.clock.millis());
      const current = password === undefined ? stored : withOwnPassword(stored, password);
      const record = changed(current, sent);
      const connection = await recordsIn(tx).connections.get(record.db_name);
      if (connection) checkStatements(connection, record);
      await users.rotation.update(tx, name, current, record);
      if (sent.adopt) await users.rotation.takeBack(tx, name);
    });
  }

  /** @throws BadRequest for what the plugin cannot do */
  function checkStatements(connection: ConnectionRecord, record: StaticRoleRecord): void {
    const plugin = connections.plugin(connection);
    if (!plugin) return;
    requireCredentialType(plugin, record.credential_type);
    if (plugin.supports.statements !== 'sql' || record.credential_type !== 'password') return;
    requirePasswordPlaceholder('rotation_statements', record.rotation_statements);
  }

  const list = namesPath('static-roles', records.staticRoles, {
    synopsis: 'The names of the static roles.',
    summary: 'Lists the static roles.',
  });

  return [role, list];
}

/** @throws TooManyRequests while the password is being changed */
function requireAtRest(name: string, { pending }: StaticRoleRecord, now: number): void {
  if (pending === undefined || pending.until <= now) return;
  throw new TooManyRequests(`the static role ${name} is being rotated; try again`, { headers: { 'Retry-After': '1' } });
}

interface Sent extends SentPlan, SentImport {
  readonly adopt: boolean;
  readonly self_managed_password: string | undefined;
  readonly username: string | undefined;
  readonly usernames: string[] | undefined;
  readonly db_name: string | undefined;
  readonly grace_period: number | undefined;
  readonly rotation_statements: string[] | undefined;
  readonly credential_type: string | undefined;
  readonly credential_config: Record<string, string> | undefined;
}

function changed(before: StaticRoleRecord | undefined, sent: Sent): StaticRoleRecord {
  if (before) refuseImport(sent);
  const users = usersAfter(before, sent);
  const dbName = sent.db_name ?? before?.db_name ?? '';
  if (dbName === '') throw new BadRequest('database name is a required field');
  if (before && dbName !== before.db_name) throw new BadRequest('cannot update static account db_name');
  const type = checkCredentialType(sent.credential_type ?? before?.credential_type ?? 'password');
  if (before && type !== before.credential_type) throw new BadRequest('cannot update static account credential_type');
  const options = sent.credential_config ?? before?.credential_config ?? {};
  checkCredentialConfig(type, options);
  const { grace_period: graceBefore, ...kept }: Partial<StaticRoleRecord> = before ?? {};
  const grace = sent.grace_period ?? graceBefore ?? 0;
  const record: StaticRoleRecord = {
    last_rotation: 0,
    next_rotation: 0,
    ...kept,
    db_name: dbName,
    ...users,
    ...planOf(before, sent),
    ...(grace > 0 ? { grace_period: grace } : {}),
    rotation_statements: sent.rotation_statements ?? before?.rotation_statements ?? [],
    credential_type: type,
    credential_config: options,
  };
  checkGrace(record);
  return record;
}

/** The warning of a deletion after which the database still takes a replaced password; undefined where it takes none. */
function stillGood({ username, retiring }: StaticRoleRecord): string | undefined {
  if (!retiring?.length) return undefined;
  return `the password of ${JSON.stringify(username)} before the last rotation still logs in, and is not ended any more: end it in the database`;
}

/** What is known of the credential of a role that is created without a rotation; undefined where the creation rotates it. @throws BadRequest */
function importOf(sent: Sent, role: StaticRoleRecord, byDefault = false): ImportedPassword | undefined {
  const given = importedPassword({ ...sent, skip_import_rotation: sent.skip_import_rotation ?? byDefault }, 'user');
  if (given?.password !== undefined && role.credential_type !== 'password') {
    throw new BadRequest(`password: a role with the credential_type ${role.credential_type} has none; leave the field out`);
  }
  return given;
}
