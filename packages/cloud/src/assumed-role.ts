import { BadRequest, f, type EngineHost } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { AssumedRole } from './cloud-provider.ts';

/** The role in whose name the keys of a user of another account are changed. All absent for a user of the account of `config/root`. */
export const AssumedRoleRecord = Type.Object({
  assume_role_arn: Type.Optional(Type.String()),
  /** '' for the one of the mount. */
  assume_role_session_name: Type.Optional(Type.String()),
  /** '' for none. */
  external_id: Type.Optional(Type.String()),
});
export type AssumedRoleRecord = Static<typeof AssumedRoleRecord>;

export const assumedRoleParameters = {
  assume_role_arn: f.string('ARN of a role in the account of the user, which config/root assumes to change the keys of the user.'),
  assume_role_session_name: f.string(
    'Name of the session of assume_role_arn; otherwise the server makes one from the accessor of the mount.',
  ),
  external_id: f.string('External id that the trust policy of assume_role_arn asks for.'),
};

/** What a read adds where `assume_role_arn` is set. */
export function visibleAssumedRole({
  assume_role_arn,
  assume_role_session_name = '',
  external_id = '',
}: AssumedRoleRecord): AssumedRoleRecord {
  if (assume_role_arn === undefined) return {};
  return {
    assume_role_arn,
    ...(assume_role_session_name === '' ? {} : { assume_role_session_name }),
    ...(external_id === '' ? {} : { external_id }),
  };
}

type Sent = { readonly [K in keyof AssumedRoleRecord]?: AssumedRoleRecord[K] | undefined };

const ROLE = /^arn:aws[a-z-]*:iam::(\d{12}):role\/[\x21-\x7e]+$/;

/**
 * The role after a write: what was not sent stays. `before`: absent for a static role that is made. A static role stays in the account that it was
 * made in. @throws BadRequest
 */
export function assumedRoleOf(before: AssumedRoleRecord | undefined, sent: Sent): AssumedRoleRecord {
  const arn = sent.assume_role_arn ?? before?.assume_role_arn ?? '';
  const session = sent.assume_role_session_name ?? before?.assume_role_session_name ?? '';
  const externalId = sent.external_id ?? before?.external_id ?? '';
  if (before && accountOf(arn) !== accountOf(before.assume_role_arn ?? '') && (arn === '' || ROLE.test(arn)))
    throw new BadRequest('assume_role_arn must stay in the account of the user: make another static role for a user of another account');
  if (arn === '') {
    if (session !== '') throw new BadRequest('assume_role_session_name is for assume_role_arn, which is missing');
    if (externalId !== '') throw new BadRequest('external_id is for assume_role_arn, which is missing');
    return {};
  }
  if (!ROLE.test(arn) || arn.length > 2_048)
    throw new BadRequest('assume_role_arn must be the ARN of a role, such as arn:aws:iam::123456789012:role/name');
  if (session !== '' && !/^[\w+=,.@-]{2,64}$/.test(session))
    throw new BadRequest('assume_role_session_name must have 2 to 64 characters: letters, digits and any of "+=,.@-_"');
  if (externalId !== '' && !/^[\w+=,.@:/-]{2,1224}$/.test(externalId))
    throw new BadRequest('external_id must have 2 to 1224 characters: letters, digits and any of "+=,.@:/-_"');
  return { assume_role_arn: arn, assume_role_session_name: session, external_id: externalId };
}

/** For a session of the provider; undefined where no role is assumed. */
export function openAssumedRole(host: EngineHost, record: AssumedRoleRecord): AssumedRole | undefined {
  const { assume_role_arn: roleArn, assume_role_session_name: name = '', external_id: externalId = '' } = record;
  if (roleArn === undefined) return undefined;
  return { roleArn, sessionName: name || `strongroom-${host.mount.accessor}`.slice(0, 64), externalId };
}

export function sameAssumedRole(a: AssumedRoleRecord, b: AssumedRoleRecord): boolean {
  return (['assume_role_arn', 'assume_role_session_name', 'external_id'] as const).every((field) => a[field] === b[field]);
}

/** '' for none. */
function accountOf(arn: string): string {
  return ROLE.exec(arn)?.[1] ?? '';
}
