import {
  type AnyPath,
  BadRequest,
  type EngineHost,
  f,
  folderList,
  foldersPath,
  NoContent,
  pageFields,
  path,
  TooManyRequests,
} from '@strongroom/engine-sdk';
import { DirectoryFailed, isDn, sameDn, unknownPolicy } from '@strongroom/ldap-client';
import {
  importedPassword,
  lastRotation,
  planOf,
  refuseImport,
  rotationPlanParameters,
  staticRoleRead,
  warned,
  type SentImport,
  type SentPlan,
} from '@strongroom/rotation';
import { Type } from 'typebox';
import { pathName, requireReachable } from './path-name.ts';
import { recordsIn, type StaticRoleRecord } from './records.ts';
import { ownPasswordOf, requireOwnPassword, type SentOwnPassword } from './self-managed.ts';
import type { DirectoryService } from './service.ts';
import { withOwnPassword, type StaticAccounts } from './static-accounts.ts';

/** No other path of a static role goes on behind its name. */
const HIDDEN_ROLES = { ends: [] };

export function staticRolePaths(host: EngineHost, service: DirectoryService, accounts: StaticAccounts): readonly AnyPath[] {
  const records = recordsIn(host.storage);

  const role = path('static-role/{name:path}', {
    synopsis: 'Roles that rotate the password of an account that the directory already has.',
    description:
      'The password is changed when the role is created, unless that is skipped, and then every rotation_period, or by rotation_schedule (UTC). ' +
      'Deleting the role leaves the account and its password in the directory.',
    fields: {
      name: pathName('role'),
      username: f.string('The account: the value of userattr. It cannot be changed.'),
      dn: f.string(
        'Distinguished name of the account. Where it is set, the account is not searched by its username. It cannot be changed.',
      ),
      ...rotationPlanParameters,
      adopt: f.bool(
        'Take the account over from whoever manages it now, in this mount or another: that one does not rotate it any more. ' +
          'On an existing role: take it back.',
      ),
      password_policy: f.string("Name of the password policy for this account. Empty: the configuration's."),
      skip_import_rotation: f.bool('Leave the password as it is until the plan brings the first rotation; only at creation.'),
      password: f.secret(
        'The password that the account has now, with skip_import_rotation. In a self_managed mount it is required, and sent again where it was changed ' +
          'outside. It is never shown but by static-cred.',
      ),
      verify: f.bool('Log in with the password before it is stored; in a self_managed mount always.', { default: true }),
      ...pageFields,
    },
  })
    .read(
      staticRoleRead({
        roles: records.staticRoles,
        response: { dn: Type.String(), username: Type.String(), password_policy: Type.Optional(Type.String()) },
        visible: (_name, { dn, username, password_policy }: StaticRoleRecord) => ({
          dn,
          username,
          ...(password_policy === undefined ? {} : { password_policy }),
        }),
        time: { schema: Type.Optional(Type.String()), of: lastRotation },
        status: async (name, record) => accounts.rotation.status(name, record),
      }),
    )
    .upsert({
      summary: 'Creates a static role, which rotates the password, or changes it.',
      response: NoContent,
      exists: async (req) => records.staticRoles.has(req.data.name),
      handle: async (req) => {
        const { name } = req.data;
        requireReachable(name, HIDDEN_ROLES);
        const before = await records.staticRoles.get(name);
        const policy = await unknownPolicy(host, { password_policy: req.data.password_policy ?? '' });
        const isSelfManaged = (await service.read())?.self_managed === true;
        if (before && (isSelfManaged || !(neverRotated(before) && req.supplied.has('username')))) {
          await update(name, before, isSelfManaged, req.data, req.signal);
          return warned(joined(policy, req.data.adopt === true ? await accounts.takeBack(name, req.signal) : undefined));
        }
        const record = created(req.data);
        const skip = req.data.skip_import_rotation ?? (await service.require()).skip_static_role_import_rotation;
        const { adopt } = req.data;
        if (isSelfManaged) {
          const own = { password: requireOwnPassword(req.data), skipRotation: skip };
          const warning = await accounts.createSelfManaged(name, record, own, req.signal, adopt);
          return warned(joined(skip ? policy : undefined, warning));
        }
        const given = importedPassword({ ...req.data, skip_import_rotation: skip }, 'account');
        if (!given) return warned(await create(name, record, req.signal, adopt));
        await accounts.createUnrotated(name, record, given, req.signal, adopt);
        return warned(policy);
      },
    })
    .delete({
      summary: 'Deletes a static role. The account stays in the directory, with the password that it has.',
      response: NoContent,
      handle: async (req) => {
        await accounts.remove(req.data.name);
        return undefined;
      },
    })
    .list(folderList(records.staticRoles, 'Lists static roles and folders.'));

  async function create(name: string, record: StaticRoleRecord, signal: AbortSignal, adopt?: boolean): Promise<string | undefined> {
    try {
      return await accounts.create(name, record, signal, adopt);
    } catch (error) {
      if (!(error instanceof DirectoryFailed) || !(await accounts.rotation.isStored(name))) throw error;
      const kept = 'whether the password was changed is not known; the role is kept, and the rotation is retried in the background';
      throw new DirectoryFailed(`${error.message}: ${kept}`, 'unknown', error);
    }
  }

  async function update(
    name: string,
    before: StaticRoleRecord,
    isSelfManaged: boolean,
    sent: Sent & SentOwnPassword,
    signal: AbortSignal,
  ): Promise<void> {
    const password = isSelfManaged ? ownPasswordOf(sent) : undefined;
    const plain = isSelfManaged ? { ...sent, password: undefined } : sent;
    if (password !== undefined) {
      changed(before, plain);
      await accounts.requireOwnPassword(before, password, signal);
    }
    await host.storage.transaction(async (tx) => {
      const current = await recordsIn(tx).staticRoles.get(name);
      if (!current) throw new BadRequest(`unknown role: ${name}`);
      if (password !== undefined) requireAtRest(name, current, host.clock.millis());
      const known = password === undefined ? current : withOwnPassword(current, password);
      await accounts.rotation.update(tx, name, known, changed(known, plain));
    });
  }

  return [role, foldersPath('static-role', records.staticRoles, { synopsis: 'The names of the static roles.', byGet: true })];
}

interface Sent extends SentPlan, SentImport {
  readonly username: string | undefined;
  readonly dn: string | undefined;
  readonly password_policy: string | undefined;
}

/** @throws TooManyRequests while the password is being changed */
function requireAtRest(name: string, { pending }: StaticRoleRecord, now: number): void {
  if (pending === undefined || pending.until <= now) return;
  throw new TooManyRequests(`the static role ${name} is being rotated; try again`, { headers: { 'Retry-After': '1' } });
}

/** A creation that never got through: it may be begun again. */
function neverRotated({ current, pending }: StaticRoleRecord): boolean {
  return current === undefined && pending !== undefined;
}

function created(sent: Sent): StaticRoleRecord {
  const { username, dn = '' } = sent;
  if (username === undefined) throw new BadRequest('username is a required field to manage a static account');
  if (username.trim() === '') throw new BadRequest('username must not be empty');
  if (dn !== '' && !isDn(dn)) {
    throw new BadRequest(`dn: ${JSON.stringify(dn)} is not a distinguished name, such as uid=app,ou=services,dc=example,dc=org`);
  }
  return { username, dn, ...policyOf(sent), claims: [], last_rotation: 0, next_rotation: 0, ...planOf(undefined, sent) };
}

function changed(before: StaticRoleRecord, sent: Sent): StaticRoleRecord {
  if (sent.username !== undefined && sent.username !== before.username) {
    throw new BadRequest(sent.username === '' ? 'username must not be empty' : 'cannot update static account username');
  }
  if (sent.dn !== undefined && !sameText(sent.dn, before.dn)) throw new BadRequest('cannot update static account distinguished name (dn)');
  refuseImport(sent);
  const { password_policy: _policy, ...kept } = before;
  return { ...kept, ...policyOf(sent, before), ...planOf(before, sent) };
}

function policyOf(sent: Sent, before?: StaticRoleRecord): { readonly password_policy?: string } {
  const policy = sent.password_policy ?? before?.password_policy ?? '';
  return policy === '' ? {} : { password_policy: policy };
}

function joined(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.filter((text) => text !== undefined).join('; ') || undefined;
}

function sameText(a: string, b: string): boolean {
  return a === b || (a !== '' && b !== '' && sameDn(a, b));
}
