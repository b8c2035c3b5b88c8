import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, queryClient } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { useStored } from '../../api/use-stored.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { Settings } from '../../parts/settings.tsx';
import { To } from '../../parts/to.tsx';

const FIRST = ['mfa_method_ids', 'auth_method_types', 'auth_method_accessors', 'identity_group_ids', 'identity_entity_ids'];
const LISTED = 'identity/mfa/login-enforcement';

/** Which logins need a second factor, by one rule. */
export default function EnforcementPage() {
  const { name = '' } = usePlace().params;
  const go = useGo();
  const path = apiPath('identity', 'mfa', 'login-enforcement', name);
  const stored = useStored(path);
  return (
    <Page
      title={name}
      crumbs={[
        <To key="logins" to="/auth">
          Logins
        </To>,
        <To key="mfa" to="/mfa">
          Second factors
        </To>,
      ]}
      actions={
        stored.data?.data && (
          <ConfirmAction
            label="Delete the enforcement"
            typed={name}
            needs={{ path: `${LISTED}/${name}`, need: 'delete' }}
            act={async () => {
              await send('DELETE', path);
              await makeStale(queryClient, [LISTED]);
              go('/mfa');
            }}
          >
            Logins that needed a second factor by this rule alone do not need one any more.
          </ConfirmAction>
        )
      }
    >
      <Loaded query={stored}>
        {({ data }) => (
          <>
            {!data && (
              <Text mb="sm" size="sm">
                There is no enforcement “{name}” yet. It applies as soon as it is saved: people without a secret in one of its methods can
                then not log in.
              </Text>
            )}
            <Settings
              path={path}
              needs={{ path: `${LISTED}/${name}`, need: ['update', 'create'] }}
              stored={data}
              first={FIRST}
              resends={['mfa_method_ids']}
              stale={[LISTED, path]}
              submit={data ? 'Save' : 'Create the enforcement'}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}
