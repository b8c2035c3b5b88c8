import { BadRequest, listed } from '@strongroom/engine-sdk';
import type { CredentialType, RoleFields } from './records.ts';

const TYPES: readonly CredentialType[] = ['iam_user', 'assumed_role', 'federation_token'];
/** As IAM takes it, and as the texts of the incumbents show it. */
const USER_PATH = '^\\/([\\x21-\\x7F]{0,510}\\/)?$';
/** Tags that tell whose a user is. */
export const OWN_TAG = 'strongroom:';

export type SentRole = { readonly [K in keyof RoleFields]: (K extends 'credential_type' ? string : RoleFields[K]) | undefined };

/** @throws BadRequest with everything that is wrong with the role. */
export function checkRole(role: Omit<RoleFields, 'credential_type'> & { readonly credential_type: string }): asserts role is RoleFields {
  const problems = problemsOf(role);
  if (problems.length > 0) throw new BadRequest(`error(s) validating supplied role data: ${JSON.stringify(listed(...problems))}`);
}

function problemsOf(role: Omit<RoleFields, 'credential_type'> & { readonly credential_type: string }): string[] {
  const type = role.credential_type;
  if (type === '') return ['did not supply credential_type'];
  if (!isCredentialType(type)) return [`unrecognized credential type: ${type}`];
  const problems: string[] = [];
  const only = (when: boolean, text: string): void => void (when && problems.push(text));
  if (type === 'iam_user') {
    for (const field of ['default_sts_ttl', 'max_sts_ttl'] as const) {
      only(role[field] > 0, `${field} parameter only valid for assumed_role and federation_token credential types`);
    }
  }
  only(
    role.max_sts_ttl > 0 && role.default_sts_ttl > role.max_sts_ttl,
    '"default_sts_ttl" value must be less than or equal to "max_sts_ttl" value',
  );
  if (role.user_path !== '') {
    only(type !== 'iam_user', 'user_path parameter only valid for iam_user credential type');
    const fits = new RegExp(USER_PATH).test(role.user_path);
    only(!fits, `The specified value for user_path is invalid. It must match ${JSON.stringify(USER_PATH)} regexp`);
  }
  only(
    role.permissions_boundary_arn !== '' && type !== 'iam_user',
    "cannot supply permissions_boundary_arn when credential_type isn't iam_user",
  );
  only(role.role_arns.length > 0 && type !== 'assumed_role', "cannot supply role_arns when credential_type isn't assumed_role");
  only(role.external_id !== '' && type !== 'assumed_role', "cannot supply external_id when credential_type isn't assumed_role");
  only(
    Object.keys(role.session_tags).length > 0 && type !== 'assumed_role',
    "cannot supply session_tags when credential_type isn't assumed_role",
  );
  only(role.role_arns.length === 0 && type === 'assumed_role', 'must specify role_arns with assumed_role credential_type');
  only(
    type !== 'assumed_role' && role.policy_arns.length === 0 && role.policy_document === '',
    `must specify at least one of policy_arns or policy_document with ${type} credential_type`,
  );
  for (const field of ['role_arns', 'policy_arns', 'permissions_boundary_arn'] as const) {
    for (const arn of [role[field]].flat()) only(arn !== '' && !isArn(arn), `${field}: ${JSON.stringify(arn)} is not an ARN`);
  }
  for (const tag of Object.keys(role.iam_tags))
    only(tag.startsWith(OWN_TAG), `iam_tags: tags that begin with ${OWN_TAG} are the server's own`);
  return problems;
}

/** What a role asks for to no effect. */
export function roleWarnings(role: RoleFields): string[] {
  if (role.credential_type === 'iam_user' || Object.keys(role.iam_tags).length === 0) return [];
  return [`iam_tags has no effect with ${role.credential_type}: only users that are made are tagged`];
}

export function isCredentialType(text: string): text is CredentialType {
  return (TYPES as readonly string[]).includes(text);
}

/** `arn:partition:service:region:account:resource` */
function isArn(text: string): boolean {
  return /^arn:[^:]*:[^:]+:[^:]*:[^:]*:.+$/.test(text);
}
