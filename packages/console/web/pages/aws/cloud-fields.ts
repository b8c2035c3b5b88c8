import type { FormField } from '../../parts/fields-form.tsx';

export const ROOT_FIELDS: readonly FormField[] = [
  { name: 'access_key', label: 'Access key', kind: 'text', help: 'Empty: the key of the environment or of the machine.' },
  { name: 'secret_key', label: 'Secret key', kind: 'secret' },
  { name: 'region', label: 'Region', kind: 'text', placeholder: 'us-east-1' },
  { name: 'iam_endpoint', label: 'IAM endpoint', kind: 'text', help: 'Where it is not the usual one.' },
  { name: 'sts_endpoint', label: 'STS endpoint', kind: 'text' },
  { name: 'max_retries', label: 'Retries', kind: 'number' },
  { name: 'username_template', label: 'Names of users', kind: 'text', help: 'A template; empty for the default one.' },
  { name: 'rotation_period', label: 'Rotated every', kind: 'text', placeholder: '720h' },
  { name: 'rotation_schedule', label: 'Schedule (UTC)', kind: 'text', placeholder: '0 4 1 * *' },
];

const POLICIES: readonly FormField[] = [
  {
    ...{ name: 'policy_document', label: 'Policy document', kind: 'code' },
    placeholder: '{\n  "Version": "2012-10-17",\n  "Statement": [{ "Effect": "Allow", "Action": "s3:GetObject", "Resource": "*" }]\n}',
  },
  {
    name: 'policy_arns',
    label: 'Managed policies',
    kind: 'lines',
    placeholder: 'arn:aws:iam::aws:policy/ReadOnlyAccess',
    help: 'ARNs, one a line.',
  },
  { name: 'iam_groups', label: 'Groups', kind: 'lines', help: 'One a line.' },
];

const TIMES: readonly FormField[] = [
  { name: 'default_sts_ttl', label: 'Good for', kind: 'text', placeholder: '1h' },
  { name: 'max_sts_ttl', label: 'At most', kind: 'text', placeholder: '12h' },
];

/** What each kind of role takes, and no more. */
export const KINDS = {
  iam_user: {
    label: 'User',
    about: 'A user of its own with an access key, removed when the lease ends.',
    fields: [
      ...POLICIES,
      { name: 'user_path', label: 'Path of users', kind: 'text', placeholder: '/' },
      { name: 'permissions_boundary_arn', label: 'Permissions boundary', kind: 'text' },
    ],
  },
  assumed_role: {
    label: 'Assumed role',
    about: 'A session of a role of the account, which ends by itself.',
    fields: [
      {
        name: 'role_arns',
        label: 'Roles',
        kind: 'lines',
        required: true,
        placeholder: 'arn:aws:iam::123456789012:role/deploy',
        help: 'ARNs, one a line.',
      },
      ...TIMES,
      { name: 'external_id', label: 'External id', kind: 'text' },
      ...POLICIES,
    ],
  },
  federation_token: {
    label: 'Federated user',
    about: "A session that may do what both the policy here and the server's own user may.",
    fields: [...POLICIES, ...TIMES],
  },
  session_token: {
    label: 'Session',
    about: "A session of the server's own user: with all its rights.",
    fields: TIMES,
  },
} as const satisfies Readonly<Record<string, { label: string; about: string; fields: readonly FormField[] }>>;

export const STATIC_KEY_FIELDS: readonly FormField[] = [
  { name: 'username', label: 'User', kind: 'text', required: true, help: 'A user that stays. Its key is made here.' },
  { name: 'rotation_period', label: 'Replaced every', kind: 'text', placeholder: '24h' },
  { name: 'rotation_schedule', label: 'Schedule (UTC)', kind: 'text', placeholder: '0 4 * * *' },
  {
    name: 'grace_period',
    label: 'The previous key stays',
    kind: 'text',
    placeholder: '1h',
    help: 'So that programs have time to read the new one.',
  },
];
