import { Code, Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useAct } from '../../api/queries.ts';
import { useStored } from '../../api/use-stored.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { Facts } from '../../parts/facts.tsx';
import { IssuedCredential } from '../../parts/issued-credential.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { Settings } from '../../parts/settings.tsx';
import { LdapFrame } from './ldap-frame.tsx';

const FIRST = ['creation_ldif', 'deletion_ldif', 'rollback_ldif', 'username_template', 'default_ttl', 'max_ttl'];

/** A role that makes accounts for a lease: issue one, see what it would do, change it. */
export default function DynamicRolePage() {
  const { mount = '', name = '' } = usePlace().params;
  const go = useGo();
  const path = apiPath(mount, 'role', name);
  const role = useStored(path);
  const exists = role.data?.data !== undefined;
  return (
    <LdapFrame
      title={name}
      section="dynamic"
      item
      actions={
        exists && (
          <DeleteThing
            path={`${mount}/role/${name}`}
            name={name}
            label="Delete the role"
            stale={[apiPath(mount, 'role')]}
            done={() => go('/ldap/$mount/dynamic', { mount })}
          >
            Accounts that it has made live on to the end of their leases. No new ones can be made.
          </DeleteThing>
        )
      }
    >
      <Loaded query={role}>
        {({ data }) => (
          <>
            {data && (
              <section aria-labelledby="issue-title">
                <h2 id="issue-title">An account</h2>
                <IssuedCredential
                  label="Make an account"
                  path={apiPath(mount, 'creds', name)}
                  needs={{ path: `${mount}/creds/${name}`, need: 'read' }}
                  plain={['username', 'distinguished_names']}
                  oncePerKey
                />
              </section>
            )}
            {data && <Preview mount={mount} name={name} />}
            <h2>{data ? 'Settings' : 'New role'}</h2>
            {!data && (
              <Text mb="sm" size="sm">
                There is no role “{name}” yet.
              </Text>
            )}
            <Settings
              path={path}
              needs={{ path: `${mount}/role/${name}`, need: ['update', 'create'] }}
              stored={data}
              first={FIRST}
              stale={[path, apiPath(mount, 'role')]}
              submit={data ? 'Save' : 'Create the role'}
            />
          </>
        )}
      </Loaded>
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom read ${mount}/creds/${name}\nstrongroom write -f ${mount}/role/${name}/preview` },
          { with: 'curl', command: `curl -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/${apiPath(mount, 'creds', name)}` },
        ]}
      />
    </LdapFrame>
  );
}

interface Previewed {
  readonly username: string;
  readonly creation_ldif: string;
  readonly deletion_ldif: string;
  readonly rollback_ldif: string;
}

/** What would be sent to the directory, for a made-up caller. Nothing is changed. */
function Preview({ mount, name }: { readonly mount: string; readonly name: string }) {
  const preview = useAct<Previewed>({ method: 'POST', path: apiPath(mount, 'role', name, 'preview') });
  return (
    <section aria-labelledby="preview-title">
      <h2 id="preview-title">Preview</h2>
      <ActionButton
        variant="default"
        needs={{ path: `${mount}/role/${name}/preview`, need: 'update' }}
        loading={preview.isPending}
        onClick={() => preview.mutate(undefined)}
      >
        Show what it would do
      </ActionButton>
      {preview.error && <ServerError error={preview.error} />}
      {preview.data && (
        <Facts
          facts={[
            { label: 'Name', value: <Code>{preview.data.data.username}</Code> },
            { label: 'Creation', value: <Ldif label="creation" text={preview.data.data.creation_ldif} /> },
            { label: 'Deletion', value: <Ldif label="deletion" text={preview.data.data.deletion_ldif} /> },
            preview.data.data.rollback_ldif !== '' && {
              label: 'Rollback',
              value: <Ldif label="rollback" text={preview.data.data.rollback_ldif} />,
            },
          ]}
        />
      )}
    </section>
  );
}

function Ldif({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <Code block tabIndex={0} role="region" aria-label={`LDIF of the ${label}`}>
      {text}
    </Code>
  );
}
