import type { FormField } from './fields-form.tsx';

/** The fields of a token role. */
export const TOKEN_ROLE_FIELDS: readonly FormField[] = [
  {
    name: 'allowed_policies',
    label: 'Policies that may be asked for',
    kind: 'names',
    about: "Without these and globs: at most the caller's own",
  },
  { name: 'allowed_policies_glob', label: 'Globs of such policies', kind: 'names', about: 'Such as team-*' },
  { name: 'disallowed_policies', label: 'Policies that may not be asked for', kind: 'names' },
  { name: 'disallowed_policies_glob', label: 'Globs of such policies that may not', kind: 'names' },
  { name: 'allowed_entity_aliases', label: 'Entity aliases that may be asked for', kind: 'names' },
  { name: 'orphan', label: 'Tokens have no parent', kind: 'switch' },
  { name: 'renewable', label: 'Tokens can be renewed', kind: 'switch' },
  { name: 'token_no_default_policy', label: 'Without the default policy', kind: 'switch' },
  { name: 'token_explicit_max_ttl', label: 'Tokens live at most', kind: 'text', about: 'Such as 24h; 0: as the mount allows' },
  { name: 'token_period', label: 'Period', kind: 'text', about: 'Every renewal gives tokens this long' },
  { name: 'token_num_uses', label: 'Number of calls', kind: 'number' },
  { name: 'token_bound_cidrs', label: 'Tokens work from', kind: 'names' },
  { name: 'path_suffix', label: 'Suffix of the path', kind: 'text', about: 'For revoking all tokens of the role by prefix' },
  {
    name: 'token_type',
    label: 'Kind',
    kind: 'choice',
    choices: ['default-service', 'default-batch', 'service', 'batch'].map((value) => ({ value, label: value })),
  },
];
