import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { useNames } from '../../api/queries.ts';
import { send, type Auth, type WrapInfo } from '../../api/send.ts';
import { duration } from '../../parts/durations.ts';
import { Facts } from '../../parts/facts.tsx';
import { asText } from '../../parts/form/form-values.ts';
import { PathForm } from '../../parts/form/path-form.tsx';
import { Page } from '../../parts/page.tsx';
import { SecretValue } from '../../parts/secret-value.tsx';
import { To } from '../../parts/to.tsx';
import { WrappedLink } from '../../parts/wrapped-link.tsx';

const FIRST = ['display_name', 'policies', 'ttl', 'explicit_max_ttl', 'period', 'num_uses', 'bound_cidrs', 'meta', 'type', 'no_parent'];

/** Which role makes the token, and how it reaches its reader: no fields of the body. */
const ROLE = ':role';
const WRAP = ':wrap';

const TYPES = [
  { value: 'service', label: 'service: can be renewed and revoked' },
  { value: 'batch', label: 'batch: stored nowhere, ends by itself' },
];

const WRAPS = [
  { value: '', label: 'shown here once' },
  { value: '5m', label: 'wrapped: a link that opens once, for 5 minutes' },
  { value: '30m', label: 'wrapped: a link that opens once, for 30 minutes' },
  { value: '1d', label: 'wrapped: a link that opens once, for 1 day' },
];

type Made = { readonly auth: Auth; readonly warnings: readonly string[] } | { readonly wrap: WrapInfo };

/** Makes a token. It is shown once. */
export default function NewTokenPage() {
  const roles = useNames('auth/token/roles');
  const [made, setMade] = useState<Made>();
  const [over, setOver] = useState('');
  const names = (roles.data?.pages ?? []).flatMap(({ keys }) => keys);
  return (
    <Page
      title="New token"
      crumbs={[
        <To key="all" to="/access/tokens">
          Tokens
        </To>,
      ]}
    >
      {over !== '' && (
        <Text role="status" size="sm" mb="md">
          {over}
        </Text>
      )}
      {made && 'wrap' in made ? (
        <WrappedLink
          wrap={made.wrap}
          over={(why) => {
            setOver(why);
            setMade(undefined);
          }}
        />
      ) : made ? (
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
        <PathForm
          path="auth/token/create"
          first={[ROLE, ...FIRST, 'no_default_policy', WRAP]}
          without={['id']}
          shape={({ schema, variant }) => ({
            variant,
            schema: {
              ...schema,
              properties: { ...schema.properties, [ROLE]: { title: 'By role' }, [WRAP]: { title: 'How it reaches its reader' } },
            },
          })}
          choices={{
            type: TYPES,
            [ROLE]: [{ value: '', label: 'none' }, ...names.map((name) => ({ value: name, label: name }))],
            [WRAP]: WRAPS,
          }}
          submit="Make the token"
          stale={['auth/token/accessors']}
          send={async ({ [ROLE]: role, [WRAP]: wrapTtl, ...body }) =>
            send('POST', role ? apiPath('auth/token/create', asText(role)) : 'auth/token/create', {
              body,
              ...(wrapTtl ? { wrapTtl: asText(wrapTtl) } : {}),
            })
          }
          done={({ auth, wrapInfo, warnings }) => {
            setOver('');
            if (wrapInfo) setMade({ wrap: wrapInfo });
            else if (auth) setMade({ auth, warnings });
          }}
        />
      )}
    </Page>
  );
}
