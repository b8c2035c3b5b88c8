import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { duration } from '../../parts/durations.ts';
import { EditButton } from '../../parts/edit-button.tsx';
import type { ShownPlan } from '../../parts/failing-thing.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { StaticRole } from '../../parts/static-role.tsx';
import { When } from '../../parts/when.tsx';
import { cloudCrumbs } from './cloud-crumbs.tsx';
import { TwoKeys } from './two-keys.tsx';

interface StaticKey extends ShownPlan {
  readonly username: string;
  readonly grace_period?: number;
  readonly last_vault_rotation: string | null;
}

/** A static role of an AWS mount: a user that stays, and its key, which is replaced. */
export default function StaticKeyPage() {
  const { params } = usePlace();
  const { mount = '', name = '' } = params;
  const go = useGo();
  const role = useRead<StaticKey>(apiPath(mount, 'static-roles', name));
  return (
    <Page
      title={name}
      crumbs={cloudCrumbs(mount, 'static')}
      actions={
        <EditButton
          path={`${mount}/static-roles/${name}`}
          to="/aws/$mount/edit/$noun"
          params={{ mount, noun: 'static' }}
          search={{ name }}
        />
      }
    >
      <Loaded query={role}>
        {({ data }) => (
          <StaticRole
            mount={mount}
            name={name}
            plan={data}
            lastGood={data.last_vault_rotation}
            picture={<TwoKeys last={data.last_vault_rotation} period={data.rotation_period} grace={data.grace_period ?? 0} />}
            show={{ label: 'Show the current key', plain: ['access_key', 'ttl', 'last_vault_rotation'] }}
            facts={[
              { label: 'User', value: data.username },
              { label: 'Replaced every', value: data.rotation_period ? duration(data.rotation_period) : undefined },
              { label: 'Schedule (UTC)', value: data.rotation_schedule },
              { label: 'Key made', value: <When time={data.last_vault_rotation} /> },
              { label: 'The previous key stays', value: data.grace_period ? duration(data.grace_period) : 'not at all' },
            ]}
            rotation={
              data.grace_period
                ? `A new key is made. The present one works for ${duration(data.grace_period)} more.`
                : 'A new key is made, and the present one is deleted at once.'
            }
            loss={`The keys of ${data.username} that this role made are deleted: whoever uses them is locked out.`}
            deleted={() => go('/aws/$mount', { mount }, { tab: 'static' })}
          />
        )}
      </Loaded>
    </Page>
  );
}
