import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { useNames } from '../../api/queries.ts';
import { send, type Auth } from '../../api/send.ts';
import { duration } from '../../parts/durations.ts';
import { Facts } from '../../parts/facts.tsx';
import { Page } from '../../parts/page.tsx';
import { SecretValue } from '../../parts/secret-value.tsx';
import { To } from '../../parts/to.tsx';
import { FieldsForm, type FormField } from './fields-form.tsx';

const FIELDS: readonly FormField[] = [
  { name: 'display_name', label: 'Display name', kind: 'text', about: 'Shown in the audit log' },
  { name: 'policies', label: 'Policies', kind: 'names', about: 'Separated by commas; none gives those of your token or of the role' },
  { name: 'ttl', label: 'Lives for', kind: 'text', about: 'Such as 1h or 7d, before it must be renewed' },
  { name: 'explicit_max_ttl', label: 'Lives at most', kind: 'text', about: 'With all renewals' },
  { name: 'period', label: 'Period', kind: 'text', about: 'Every renewal gives it this long, without end. Needs sudo' },
  { name: 'num_uses', label: 'Number of calls', kind: 'number', about: '0: any number' },
  { name: 'bound_cidrs', label: 'Works from', kind: 'names', about: 'Addresses or CIDR blocks' },
  { name: 'meta', label: 'Metadata', kind: 'pairs', about: 'One key=value a line' },
  {
    name: 'type',
    label: 'Kind',
    kind: 'choice',
    choices: [
      { value: '', label: 'as usual' },
      { value: 'service', label: 'service: can be renewed and revoked' },
      { value: 'batch', label: 'batch: stored nowhere, ends by itself' },
    ],
  },
  { name: 'no_parent', label: 'Without a parent', kind: 'switch', about: 'Does not end with your token. Needs sudo' },
  { name: 'no_default_policy', label: 'Without the default policy', kind: 'switch' },
];

/** Makes a token. It is shown once. */
export default function NewTokenPage() {
  const roles = useNames('auth/token/roles');
  const [made, setMade] = useState<{ readonly auth: Auth; readonly warnings: readonly string[] }>();
  const names = (roles.data?.pages ?? []).flatMap(({ keys }) => keys);
  const role: FormField = {
    name: 'role',
    label: 'By role',
    kind: 'choice',
    choices: [{ value: '', label: 'none' }, ...names.map((name) => ({ value: name, label: name }))],
  };
  return (
    <Page
      title="New token"
      crumbs={[
        <To key="all" to="/access/tokens">
          Tokens
        </To>,
      ]}
    >
      {made ? (
        <section aria-labelledby="made">
          <Stack gap="sm">
            <Title order={2} size="h4" id="made">
              Shown once
            </Title>
            {made.warnings.map((warning) => (
              <Text key={warning} size="sm">
                {warning}
              </Text>
            ))}
            <Facts
              facts={[
                { label: 'Token', value: <SecretValue label="token" value={made.auth.client_token} /> },
                {
                  label: 'Accessor',
                  value: made.auth.accessor && (
                    <To to="/access/tokens/$accessor" params={{ accessor: made.auth.accessor }}>
                      {made.auth.accessor}
                    </To>
                  ),
                },
                { label: 'Policies', value: made.auth.policies.join(', ') },
                { label: 'Lives for', value: made.auth.lease_duration === 0 ? 'ever' : duration(made.auth.lease_duration) },
              ]}
            />
            <Group>
              <Button size="xs" variant="default" onClick={() => setMade(undefined)}>
                I have it: make another
              </Button>
            </Group>
          </Stack>
        </section>
      ) : (
        <FieldsForm
          key={names.length}
          fields={[role, ...FIELDS]}
          submit="Make the token"
          needs={{ path: 'auth/token/create', need: ['update', 'create'] }}
          act={async ({ role: by, ...body }) => {
            const { auth, warnings } = await send('POST', by ? apiPath('auth/token/create', String(by)) : 'auth/token/create', { body });
            if (auth) setMade({ auth, warnings });
          }}
        />
      )}
    </Page>
  );
}
