import type { FormField } from './fields-form.tsx';

const POLICIES: FormField = {
  name: 'policies',
  label: 'Policies',
  kind: 'names',
  about: 'Beside those of the token itself; separated by commas',
};
const METADATA: FormField = {
  name: 'metadata',
  label: 'Metadata',
  kind: 'pairs',
  about: 'One key=value a line; templates of policies can name them',
};

export const ENTITY_FIELDS: readonly FormField[] = [
  { name: 'name', label: 'Name', kind: 'text' },
  POLICIES,
  METADATA,
  { name: 'disabled', label: 'Disabled', kind: 'switch', about: 'Every token of the entity is refused' },
];

const MEMBERS: readonly FormField[] = [
  { name: 'member_entity_ids', label: 'Members', kind: 'names', about: 'Ids of entities, separated by commas' },
  { name: 'member_group_ids', label: 'Groups in it', kind: 'names', about: 'Ids of groups, separated by commas' },
];

/** Of an external group, logins fill in the members. */
export function groupFields(type: 'internal' | 'external'): readonly FormField[] {
  return [{ name: 'name', label: 'Name', kind: 'text' }, POLICIES, METADATA, ...(type === 'internal' ? MEMBERS : [])];
}

export const NEW_GROUP_FIELDS: readonly FormField[] = [
  { name: 'name', label: 'Name', kind: 'text' },
  {
    name: 'type',
    label: 'Members',
    kind: 'choice',
    choices: [
      { value: '', label: 'named here (internal)' },
      { value: 'external', label: 'filled in by logins (external)' },
    ],
  },
  POLICIES,
  METADATA,
];
