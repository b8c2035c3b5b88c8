import { Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';
import { useStored } from '../../api/use-stored.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { IssuedCredential } from '../../parts/issued-credential.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { Settings } from '../../parts/settings.tsx';
import { mfaCrumbs } from './mfa-crumbs.tsx';

const FIRST = ['method_name', 'issuer', 'period', 'digits', 'algorithm', 'skew', 'max_validation_attempts'];
const LISTED = 'identity/mfa/method/totp';

/** One method of second factors, and the secrets of people in it. */
export default function MfaMethodPage() {
  const { id = '' } = usePlace().params;
  const isNew = id === 'new';
  const go = useGo();
  const path = isNew ? LISTED : apiPath('identity', 'mfa', 'method', 'totp', id);
  const stored = useStored(path, !isNew);
  const data = stored.data?.data;
  const settings = (
    <Settings
      path={path}
      needs={{ path: isNew ? LISTED : `identity/mfa/method/totp/${id}`, need: ['update', 'create'] }}
      stored={data}
      first={FIRST}
      without={['after', 'limit', ...(isNew ? [] : ['method_name'])]}
      resends="all"
      stale={[LISTED, path]}
      submit={isNew ? 'Create the method' : 'Save'}
      {...(isNew ? { done: () => go('/mfa') } : {})}
    />
  );
  return (
    <Page
      title={isNew ? 'New method' : String(data?.name || id)}
      crumbs={mfaCrumbs()}
      actions={
        data && (
          <DeleteThing
            path={`identity/mfa/method/totp/${id}`}
            name={String(data.name || id)}
            label="Delete the method"
            stale={[LISTED]}
            done={() => go('/mfa')}
          >
            The secrets of everybody in this method are lost. A method that an enforcement uses is refused.
          </DeleteThing>
        )
      }
    >
      {isNew ? (
        settings
      ) : (
        <Loaded query={stored}>
          {({ data: found }) =>
            found ? (
              <Stack gap="lg">
                <People id={id} />
                <section aria-labelledby="method-settings">
                  <h2 id="method-settings">Settings</h2>
                  {settings}
                </section>
              </Stack>
            ) : (
              <Text>There is no such method.</Text>
            )
          }
        </Loaded>
      )}
    </Page>
  );
}

/** A secret for an entity, shown once; and its removal, for somebody who lost the telephone. */
function People({ id }: { readonly id: string }) {
  const [entity, setEntity] = useState('');
  return (
    <section aria-labelledby="people-title">
      <h2 id="people-title">A person's secret</h2>
      <Stack gap="sm" align="flex-start">
        <TextInput
          label="Entity id"
          value={entity}
          autoComplete="off"
          onChange={({ currentTarget }) => setEntity(currentTarget.value.trim())}
        />
        {entity !== '' && (
          <>
            <IssuedCredential
              key={entity}
              label="Make a secret"
              method="POST"
              path={apiPath('identity', 'mfa', 'method', 'totp', 'admin-generate')}
              body={{ method_id: id, entity_id: entity }}
              needs={{ path: 'identity/mfa/method/totp/admin-generate', need: ['update', 'create'] }}
            />
            <ConfirmAction
              label="Remove the secret"
              needs={{ path: 'identity/mfa/method/totp/admin-destroy', need: ['update', 'create'] }}
              act={async () =>
                send('POST', apiPath('identity', 'mfa', 'method', 'totp', 'admin-destroy'), { body: { method_id: id, entity_id: entity } })
              }
            >
              The codes of this person stop working. Logins that need this method are refused until there is a new secret.
            </ConfirmAction>
          </>
        )}
      </Stack>
    </section>
  );
}
