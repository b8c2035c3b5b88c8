import { Code, Stack, Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { duration } from '../../parts/durations.ts';
import { EditButton } from '../../parts/edit-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { IssuedCredential } from '../../parts/issued-credential.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { To } from '../../parts/to.tsx';
import { cloudCrumbs } from './cloud-crumbs.tsx';

interface CloudRole {
  readonly credential_type: string;
  readonly role_arns: readonly string[] | null;
  readonly policy_arns: readonly string[] | null;
  readonly policy_document: string;
  readonly iam_groups: readonly string[] | null;
  readonly default_sts_ttl: number;
  readonly max_sts_ttl: number;
  readonly user_path: string;
  readonly permissions_boundary_arn: string;
  readonly external_id?: string;
}

const KINDS: Readonly<Record<string, string>> = {
  iam_user: 'a user with a key',
  assumed_role: 'a session of a role',
  federation_token: 'a session of a federated user',
  session_token: "a session of the server's own user",
};

/** A role of an AWS mount, and a credential of it for whoever asks. */
export default function CloudRolePage() {
  const { params } = usePlace();
  const { mount = '', name = '' } = params;
  const go = useGo();
  const role = useRead<CloudRole>(apiPath(mount, 'roles', name));
  const isUser = role.data?.data.credential_type.includes('iam_user') ?? false;
  return (
    <Page
      title={name}
      crumbs={cloudCrumbs(mount, 'roles')}
      actions={
        <EditButton path={`${mount}/roles/${name}`} to="/aws/$mount/edit/$noun" params={{ mount, noun: 'roles' }} search={{ name }} />
      }
    >
      <Stack gap="lg">
        <IssuedCredential
          label="Borrow a credential"
          path={apiPath(mount, 'creds', name)}
          needs={{ path: `${mount}/creds/${name}`, need: 'read' }}
          plain={['access_key', 'arn', 'username', 'ttl', 'expiration', 'ready_at']}
          stale={['sys/leases']}
          {...(role.data && !isUser ? { end: null } : {})}
        />
        <Loaded query={role}>
          {({ data }) => (
            <>
              <Facts
                facts={[
                  { label: 'Makes', value: KINDS[data.credential_type] ?? data.credential_type },
                  { label: 'Roles', value: data.role_arns?.join('\n') },
                  { label: 'Managed policies', value: data.policy_arns?.join('\n') },
                  { label: 'Groups', value: data.iam_groups?.join(', ') },
                  { label: 'Good for', value: data.default_sts_ttl > 0 ? duration(data.default_sts_ttl) : undefined },
                  { label: 'At most', value: data.max_sts_ttl > 0 ? duration(data.max_sts_ttl) : undefined },
                  { label: 'Path of users', value: data.user_path },
                  { label: 'Permissions boundary', value: data.permissions_boundary_arn },
                  { label: 'External id', value: data.external_id },
                  {
                    label: 'Leases',
                    value: (
                      <To to="/leases" search={{ prefix: `${mount}/creds/${name}` }}>
                        of this role
                      </To>
                    ),
                  },
                ]}
              />
              {data.policy_document !== '' && (
                <div>
                  <Text size="sm" c="dimmed">
                    Policy document
                  </Text>
                  <Code block tabIndex={0}>
                    {pretty(data.policy_document)}
                  </Code>
                </div>
              )}
              <CloudPreview mount={mount} name={name} />
              <div>
                <DeleteThing
                  path={`${mount}/roles/${name}`}
                  name={name}
                  stale={[apiPath(mount)]}
                  done={() => go('/aws/$mount', { mount }, { tab: 'roles' })}
                >
                  Nobody can borrow a credential of this role any more. What was borrowed stays until its lease ends.
                </DeleteThing>
              </div>
            </>
          )}
        </Loaded>
        <CommandLines lines={[{ with: 'CLI', command: `strongroom read ${shellWord(`${mount}/creds/${name}`)}` }]} />
      </Stack>
    </Page>
  );
}

function CloudPreview({ mount, name }: { readonly mount: string; readonly name: string }) {
  const preview = useRead<Record<string, unknown>>(apiPath(mount, 'preview', name), { enabled: false });
  return (
    <section aria-label="Preview">
      <Stack gap="sm" align="flex-start">
        <ActionButton
          variant="default"
          needs={{ path: `${mount}/preview/${name}`, need: 'read' }}
          loading={preview.isFetching}
          onClick={() => void preview.refetch()}
        >
          Preview
        </ActionButton>
        <Text size="xs" c="dimmed">
          Shows the names, policies and tags that a credential would have. Nothing is made.
        </Text>
      </Stack>
      {(preview.data ?? preview.error) && (
        <Loaded query={preview}>
          {({ data }) => (
            <Facts
              facts={Object.entries(data).map(([label, value]) => ({
                label: label.replaceAll('_', ' '),
                value: typeof value === 'string' ? value : value === null ? undefined : JSON.stringify(value),
              }))}
            />
          )}
        </Loaded>
      )}
    </section>
  );
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
