import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useStored } from '../../api/use-stored.ts';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { Settings } from '../../parts/settings.tsx';
import { mfaCrumbs } from './mfa-crumbs.tsx';

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
      crumbs={mfaCrumbs()}
      actions={
        stored.data?.data && (
          <DeleteThing path={`${LISTED}/${name}`} name={name} label="Delete the enforcement" stale={[LISTED]} done={() => go('/mfa')}>
            Logins that needed a second factor by this rule alone do not need one any more.
          </DeleteThing>
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
