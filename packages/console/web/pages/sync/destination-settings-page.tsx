import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, queryClient } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { useStored } from '../../api/use-stored.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { Settings } from '../../parts/settings.tsx';
import { DestinationFrame } from './destination-frame.tsx';
import { shownDetails } from './shown-details.ts';

/** Of deletion alone. */
const WITHOUT = ['purge', 'force_delete'];
const FIRST: Readonly<Record<string, readonly string[]>> = {
  'aws-sm': ['region', 'access_key_id', 'secret_access_key', 'role_arn', 'endpoint'],
  'aws-ssm': ['region', 'access_key_id', 'secret_access_key', 'role_arn', 'endpoint'],
  'azure-kv': ['key_vault_uri', 'tenant_id', 'client_id', 'client_secret'],
  'gcp-sm': ['project_id', 'credentials'],
  kubernetes: ['kubernetes_host', 'kubernetes_ca_cert', 'service_account_jwt', 'namespace'],
  gh: ['access_token', 'repository_owner', 'repository_name', 'app_name'],
  vault: ['address', 'token', 'role_id', 'secret_id', 'namespace', 'mount', 'path_prefix'],
  'vercel-project': ['access_token', 'project_id', 'team_id', 'deployment_environments'],
};
const OF_ALL = ['granularity', 'secret_name_template', 'on_conflict', 'reconcile_interval'];

/** How a destination is reached, and how copies are named there. */
export default function DestinationSettingsPage() {
  const { type = '', name = '' } = usePlace().params;
  const go = useGo();
  const place = `sys/sync/destinations/${type}/${name}`;
  const path = apiPath('sys', 'sync', 'destinations', type, name);
  const stored = useStored<{ connection_details: Record<string, unknown>; options: Record<string, unknown>; purge_error?: string }>(path);
  const remove = async (query: Readonly<Record<string, string>>): Promise<void> => {
    await send('DELETE', path, { query });
    await makeStale(queryClient, ['sys/sync/destinations']);
    go('/sync');
  };
  return (
    <DestinationFrame
      section="settings"
      actions={
        stored.data?.data && (
          <ConfirmAction
            label="Delete with all copies"
            typed={name}
            needs={{ path: place, need: 'delete' }}
            act={async () => remove({ purge: 'true' })}
          >
            Every copy of this destination is removed outside. Programs that read them there lose them.
          </ConfirmAction>
        )
      }
    >
      <Loaded query={stored}>
        {({ data }) => (
          <>
            {!data && (
              <Text mb="sm" size="sm">
                There is no destination {type}/{name} yet.
              </Text>
            )}
            {data?.purge_error && <Text mb="sm">{data.purge_error}</Text>}
            <Settings
              path={path}
              needs={{ path: place, need: ['update', 'create'] }}
              stored={data && { ...data.options, ...shownDetails(data.connection_details) }}
              first={[...(Object.hasOwn(FIRST, type) ? FIRST[type]! : []), ...OF_ALL]}
              without={WITHOUT}
              stale={['sys/sync/destinations', path]}
              submit={data ? 'Save' : 'Create the destination'}
            />
          </>
        )}
      </Loaded>
    </DestinationFrame>
  );
}
