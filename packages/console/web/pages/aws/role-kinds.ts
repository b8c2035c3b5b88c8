import type { Choice } from '../../parts/form/form-field.tsx';
import type { DeclaredBody } from '../../api/use-declared-body.ts';

const POLICIES = ['policy_document', 'policy_arns', 'iam_groups'];
const TIMES = ['default_sts_ttl', 'max_sts_ttl'];

interface RoleKind {
  readonly label: string;
  readonly about: string;
  readonly fields: readonly string[];
  readonly required: readonly string[];
}

/** What each kind of role takes, and no more. */
const KINDS: Readonly<Record<string, RoleKind>> = {
  iam_user: {
    label: 'User',
    about: 'A user of its own with an access key, removed when the lease ends.',
    fields: [...POLICIES, 'user_path', 'permissions_boundary_arn', 'iam_tags'],
    required: [],
  },
  assumed_role: {
    label: 'Assumed role',
    about: 'A session of a role of the account, which ends by itself.',
    fields: ['role_arns', ...TIMES, 'external_id', 'session_tags', ...POLICIES],
    required: ['role_arns'],
  },
  federation_token: {
    label: 'Federated user',
    about: "A session that may do what both the policy here and the server's own user may.",
    fields: [...POLICIES, ...TIMES],
    required: [],
  },
  session_token: {
    label: 'Session',
    about: "A session of the server's own user: with all its rights.",
    fields: TIMES,
    required: [],
  },
};

export const ROLE_KINDS: readonly Choice[] = Object.entries(KINDS).map(([value, { label }]) => ({ value, label }));

/** The declared fields of a role by its kind: four small forms in place of a large one. */
export function byKind({ schema }: DeclaredBody): DeclaredBody {
  const { properties = {} } = schema;
  return {
    schema: {
      ...schema,
      properties: { credential_type: { ...properties.credential_type, title: 'What it makes' } },
      discriminator: BY_KIND,
    },
    variant: (value) => {
      const kind = Object.hasOwn(KINDS, value) ? KINDS[value]! : KINDS.iam_user!;
      const fields = kind.fields.flatMap((name) => (properties[name] ? [[name, properties[name]] as const] : []));
      const type = { ...properties.credential_type, title: 'What it makes', description: kind.about };
      return { properties: { credential_type: type, ...Object.fromEntries(fields) }, required: kind.required };
    },
  };
}

const BY_KIND = { propertyName: 'credential_type', mapping: {} };
