import { compactPolicy } from './policy-document.ts';
import type { CredentialType, RoleFields } from './records.ts';

/** A role of the old form, as it is understood today. */
export interface UpgradedRole {
  readonly types: readonly CredentialType[];
  readonly fields: Omit<RoleFields, 'credential_type'>;
}

export const emptyFields: Omit<RoleFields, 'credential_type'> = {
  role_arns: [],
  policy_arns: [],
  policy_document: '',
  iam_groups: [],
  iam_tags: {},
  default_sts_ttl: 0,
  max_sts_ttl: 0,
  user_path: '',
  permissions_boundary_arn: '',
  external_id: '',
  session_tags: {},
};

/**
 * What an older `policy` or `arn` means: the ARN of a policy makes users, the ARN of a role is assumed, a policy does either, by the path that is
 * asked. Undefined for a text that is none of these.
 */
export function upgradeLegacy(text: string): UpgradedRole | undefined {
  if (text.startsWith('arn:')) {
    const kind = /^arn:[^:]+:iam::[^:]*:(role|policy)\/.+$/.exec(text)?.[1];
    if (kind === 'role') return { types: ['assumed_role'], fields: { ...emptyFields, role_arns: [text] } };
    if (kind === 'policy') return { types: ['iam_user'], fields: { ...emptyFields, policy_arns: [text] } };
    return undefined;
  }
  try {
    return { types: ['iam_user', 'federation_token'], fields: { ...emptyFields, policy_document: compactPolicy(text) } };
  } catch {
    return undefined;
  }
}
