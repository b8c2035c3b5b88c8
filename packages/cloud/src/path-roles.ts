import { type AnyPath, BadRequest, type EngineHost, f, namesPath, NoContent, NotFound, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { emptyFields, upgradeLegacy } from './legacy-role.ts';
import { compactPolicy } from './policy-document.ts';
import { recordsIn, type RoleFields, type RoleRecord } from './records.ts';
import { checkRole, roleWarnings, type SentRole } from './role-rules.ts';
import { roleOf } from './roles.ts';

const LEGACY_WARNING = 'Detected use of legacy role or policy parameter. Please upgrade to use the new parameters.';
const ListOrNull = Type.Union([Type.Array(Type.String()), Type.Null()]);
const MapOrNull = Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]);

const ownFields = {
  credential_type: f.string('What credentials are made: iam_user, assumed_role, federation_token or session_token.'),
  role_arns: f.commaStrings('ARNs of the roles that may be assumed. Needed for assumed_role, and only for that.'),
  policy_arns: f.commaStrings(
    'ARNs of managed policies: attached to users; for the other types, credentials are restricted to them. For iam_user and federation_token ' +
      'these or policy_document are needed.',
  ),
  policy_document: f.string('A policy in JSON: attached to users; for the other types, credentials are restricted to it.', {
    multiline: 'json',
  }),
  iam_groups: f.commaStrings('Groups that users are added to; for the other types their policies are combined with those of the role.'),
  iam_tags: f.keyValues('Tags of users, as key=value.'),
  default_sts_ttl: f.duration('How long credentials of assumed_role and federation_token are good where the caller asks for no ttl.'),
  max_sts_ttl: f.duration('The longest that credentials of assumed_role and federation_token are good.'),
  user_path: f.string('Path of the names of users; / unless given. Only for iam_user.'),
  permissions_boundary_arn: f.string('ARN of the policy that bounds what users may do. Only for iam_user.'),
  external_id: f.string('The external id that the assumed role asks for. Only for assumed_role.'),
  session_tags: f.keyValues('Tags of the session, as key=value. Only for assumed_role.'),
  mfa_serial_number: f.string(
    'Serial number or ARN of the MFA device of the user of config/root: creds then needs mfa_code. Only for session_token.',
  ),
};

export function rolePaths(host: EngineHost): readonly AnyPath[] {
  const { roles } = recordsIn(host.storage);

  const role = path('roles/{name:at}', {
    synopsis: 'Roles that issue credentials.',
    description: 'A write to an existing role changes what it sends and keeps the rest. policy and arn stand alone, and replace the role.',
    fields: {
      name: f.name('Name of the role.'),
      ...ownFields,
      policy: f.string('A policy in JSON, in place of all other fields: creds makes users, sts federation tokens.', { deprecated: true }),
      arn: f.string('ARN of a policy, for users, or of a role to assume, in place of all other fields.', { deprecated: true }),
    },
  })
    .read({
      summary: 'Reads a role.',
      response: Type.Object({
        credential_type: Type.String({ description: 'Both types, with a comma, where the path of the request decides.' }),
        role_arns: ListOrNull,
        policy_arns: ListOrNull,
        policy_document: Type.String(),
        iam_groups: ListOrNull,
        iam_tags: MapOrNull,
        default_sts_ttl: Type.Number({ description: 'Seconds.' }),
        max_sts_ttl: Type.Number({ description: 'Seconds.' }),
        user_path: Type.String(),
        permissions_boundary_arn: Type.String(),
        external_id: Type.Optional(Type.String()),
        session_tags: Type.Optional(Type.Record(Type.String(), Type.String())),
        mfa_serial_number: Type.Optional(Type.String()),
        invalid_data: Type.Optional(Type.String({ description: 'The text of an older role that is neither an ARN nor a policy.' })),
      }),
      handle: async (req) => {
        const record = await roles.get(req.data.name);
        return record && { data: visible(record) };
      },
    })
    .upsert({
      summary: 'Creates or changes a role.',
      response: NoContent,
      exists: async (req) => roles.has(req.data.name),
      handle: async (req) => {
        const { name, policy, arn, ...sent } = req.data;
        const legacy = [policy, arn].filter((text) => text !== undefined && text !== '') as string[];
        if (legacy.length > 0) {
          await roles.put(name, legacyRecord(legacy, sent));
          return { warnings: [LEGACY_WARNING] };
        }
        const record = await req.storage.transaction(async (tx) => {
          const inside = recordsIn(tx).roles;
          const next = changed(await inside.get(name), sent);
          await inside.put(name, next);
          return next;
        });
        const warnings = roleWarnings(record);
        return warnings.length === 0 ? undefined : { warnings };
      },
    })
    .delete({
      summary: 'Deletes a role. Its leases stay, and can be renewed and revoked.',
      response: NoContent,
      handle: async (req) => {
        await req.storage.transaction(async (tx) => {
          const inside = recordsIn(tx).roles;
          if (!(await inside.has(req.data.name))) throw new NotFound(`Role ${JSON.stringify(req.data.name)} not found`);
          await inside.delete(req.data.name);
        });
        return undefined;
      },
    });

  const list = namesPath('roles', roles, {
    synopsis: 'The names of the roles.',
    description: 'Lists names only; static roles have a list of their own.',
    summary: 'Lists the roles.',
  });

  return [role, list];
}

function changed(before: RoleRecord | undefined, sent: SentRole): RoleFields {
  // What an older text meant is not the ground for a new role.
  const base = before && !('legacy' in before) ? before : { credential_type: '', ...emptyFields };
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as Partial<RoleFields>;
  const next = { ...base, ...given };
  const role = { ...next, policy_document: next.policy_document === '' ? '' : compactPolicy(next.policy_document) };
  checkRole(role);
  return role;
}

function legacyRecord(texts: readonly string[], sent: SentRole): RoleRecord {
  if (texts.length > 1) throw new BadRequest('policy and arn exclude each other: a legacy role has one of them');
  if (sent.credential_type !== undefined) {
    throw new BadRequest('cannot supply deprecated role or policy parameters with an explicit credential_type');
  }
  const others = Object.entries(sent).filter(([, value]) => value !== undefined);
  if (others.length > 0) {
    throw new BadRequest(`cannot supply deprecated role or policy parameters with ${others.map(([field]) => field).join(', ')}`);
  }
  const text = texts[0]!;
  if (upgradeLegacy(text) === undefined) throw new BadRequest(`unable to parse supplied data: ${JSON.stringify(text)}`);
  return { legacy: text };
}

function visible(record: RoleRecord) {
  const role = roleOf(record);
  const {
    types,
    legacy: _form,
    external_id,
    session_tags,
    mfa_serial_number = '',
    ...fields
  } = role ?? { types: [], legacy: true, ...emptyFields };
  return {
    credential_type: types.join(','),
    ...fields,
    role_arns: orNull(fields.role_arns),
    policy_arns: orNull(fields.policy_arns),
    iam_groups: orNull(fields.iam_groups),
    iam_tags: Object.keys(fields.iam_tags).length === 0 ? null : fields.iam_tags,
    ...(external_id === '' ? {} : { external_id }),
    ...(Object.keys(session_tags).length === 0 ? {} : { session_tags }),
    ...(mfa_serial_number === '' ? {} : { mfa_serial_number }),
    ...(role || !('legacy' in record) ? {} : { invalid_data: record.legacy }),
  };
}

function orNull(list: readonly string[]): string[] | null {
  return list.length === 0 ? null : [...list];
}
