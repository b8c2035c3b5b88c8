import { BadRequest, listed } from '@strongroom/engine-sdk';
import { hasStatement } from './policy-document.ts';
import type { CredentialType, RoleFields } from './records.ts';
import { LONGEST_DOCUMENT, LONGEST_SESSION, MOST_POLICIES, SHORTEST_SESSION } from './session-limits.ts';

const TYPES: readonly CredentialType[] = ['iam_user', 'assumed_role', 'federation_token', 'session_token'];
/** As IAM takes it, and as the texts of Vault and OpenBao show it. */
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
    const fits = new RegExp(USER_PATH).test(role.user_path) && role.user_path !== '//';
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
    type !== 'assumed_role' && type !== 'session_token' && role.policy_arns.length === 0 && role.policy_document === '',
    `must specify at least one of policy_arns or policy_document with ${type} credential_type`,
  );
  const serial = role.mfa_serial_number ?? '';
  only(serial !== '' && type !== 'session_token', "cannot supply mfa_serial_number when credential_type isn't session_token");
  only(
    serial !== '' && !/^[\w+=/:,.@-]{9,256}$/.test(serial),
    'mfa_serial_number must be the serial number of a device, or its ARN, such as arn:aws:iam::123456789012:mfa/user',
  );
  if (type === 'session_token')
    for (const field of ['policy_arns', 'policy_document', 'iam_groups'] as const)
      only(
        role[field].length > 0,
        `cannot supply ${field} with session_token: AWS gives such a credential all rights of the user of config/root`,
      );
  for (const [field, kind] of ARN_FIELDS) {
    for (const arn of [role[field]].flat()) {
      if (arn === '') continue;
      const is = isArn(arn) ? `is not the ARN of a ${kind}, such as arn:aws:iam::123456789012:${kind}/name` : 'is not an ARN';
      only(!ARN_OF[kind].test(arn), `${field}: ${JSON.stringify(arn)} ${is}`);
    }
  }
  for (const group of role.iam_groups) {
    only(!/^[\w+=,.@-]{1,128}$/.test(group), `iam_groups: ${JSON.stringify(group)} cannot be the name of a group`);
  }
  for (const tag of Object.keys(role.iam_tags))
    only(tag.startsWith(OWN_TAG), `iam_tags: tags that begin with ${OWN_TAG} are the server's own`);
  problems.push(
    ...tagProblems('iam_tags', role.iam_tags, MOST_TAGS - OWN_TAGS),
    ...tagProblems('session_tags', role.session_tags, MOST_TAGS),
  );
  only(
    role.external_id !== '' && !/^[\w+=,.@:/-]{2,1224}$/.test(role.external_id),
    'external_id must have 2 to 1224 characters: letters, digits and any of "+=,.@:/-_"',
  );
  return problems;
}

/** As IAM and STS take them. */
const MOST_TAGS = 50;
/** Those that the engine sets itself. */
const OWN_TAGS = 2;
const TAG_TEXT = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;
const ARN_FIELDS = [
  ['role_arns', 'role'],
  ['policy_arns', 'policy'],
  ['permissions_boundary_arn', 'policy'],
] as const;
/** AWS's own policies have `aws` in the place of the account. */
const ARN_OF = {
  role: /^arn:aws[a-z-]*:iam::\d{12}:role\/[\x21-\x7e]+$/,
  policy: /^arn:aws[a-z-]*:iam::(\d{12}|aws):policy\/[\x21-\x7e]+$/,
};

function tagProblems(field: 'iam_tags' | 'session_tags', tags: Readonly<Record<string, string>>, most: number): string[] {
  const keys = Object.keys(tags);
  const problems: string[] = [];
  if (keys.length > most) problems.push(`${field}: ${keys.length} tags, where AWS takes ${most} besides the server's own`);
  const seen = new Map<string, string>();
  for (const [key, value] of Object.entries(tags)) {
    const shown = `${field}: ${JSON.stringify(key)}`;
    const twin = seen.get(key.toLowerCase());
    if (twin !== undefined) problems.push(`${shown} and ${JSON.stringify(twin)} are one key to AWS, which knows no case there`);
    seen.set(key.toLowerCase(), key);
    if (key === '' || key.length > 128 || !TAG_TEXT.test(key) || /^aws:/i.test(key))
      problems.push(
        `${shown} cannot be the key of a tag: 1 to 128 letters, digits, spaces and any of "_.:/=+-@", and not beginning with aws:`,
      );
    if (value.length > 256 || !TAG_TEXT.test(value))
      problems.push(`${shown} has a value that no tag can have: at most 256 letters, digits, spaces and any of "_.:/=+-@"`);
  }
  return problems;
}

/** What a role asks for to no effect, or what AWS will refuse when a credential is asked for. */
export function roleWarnings(role: RoleFields): string[] {
  const { credential_type: type, policy_document: document } = role;
  const warnings: string[] = [];
  const warn = (when: boolean, text: string): void => void (when && warnings.push(text));
  warn(
    type !== 'iam_user' && Object.keys(role.iam_tags).length > 0,
    `iam_tags has no effect with ${type}: only users that are made are tagged`,
  );
  if (type !== 'iam_user') {
    for (const field of ['default_sts_ttl', 'max_sts_ttl'] as const) {
      const seconds = role[field];
      warn(seconds > 0 && seconds < SHORTEST_SESSION, `${field}: AWS gives no credential of less than ${SHORTEST_SESSION} s`);
      const most = LONGEST_SESSION[type];
      warn(seconds > most, `${field}: AWS gives no credential of ${type} for more than ${most} s`);
    }
  }
  warn(document !== '' && !hasStatement(document), 'policy_document has no Statement, without which AWS refuses it');
  warn(
    document.length > LONGEST_DOCUMENT,
    `policy_document has ${document.length} characters, where AWS takes at most ${LONGEST_DOCUMENT}`,
  );
  for (const field of ['policy_arns', 'iam_groups'] as const) {
    const { length } = role[field];
    const counts = field === 'policy_arns' || type === 'iam_user';
    warn(
      counts && length > MOST_POLICIES,
      `${field}: ${length} are given, where AWS takes ${MOST_POLICIES} unless it has raised the quota`,
    );
  }
  return warnings;
}

export function isCredentialType(text: string): text is CredentialType {
  return (TYPES as readonly string[]).includes(text);
}

/** `arn:partition:service:region:account:resource` */
function isArn(text: string): boolean {
  return /^arn:[^:]*:[^:]+:[^:]*:[^:]*:.+$/.test(text);
}
