import { apiPath } from '../../api/api-path.ts';
import { Empty } from '../../parts/empty.tsx';
import { FolderedNames } from '../../parts/foldered-names.tsx';
import { NewByName } from '../../parts/new-by-name.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { LdapFrame } from './ldap-frame.tsx';

/** Accounts that are made for a lease. */
export default function DynamicRolesPage() {
  const { mount = '' } = usePlace().params;
  const go = useGo();
  return (
    <LdapFrame
      title="Dynamic roles"
      section="dynamic"
      actions={
        <NewByName
          label="Name of the new role"
          button="New role"
          needs={(name) => ({ path: `${mount}/role/${name}`, need: ['create', 'update'] })}
          onName={(name) => go('/ldap/$mount/dynamic/$name', { mount, name })}
        />
      }
    >
      <FolderedNames
        list={apiPath(mount, 'role')}
        label="Dynamic roles"
        page="/ldap/$mount/dynamic"
        params={{ mount }}
        empty={<Empty>A dynamic role makes an account for a lease, and deletes it when the lease ends. There is none yet.</Empty>}
        row={(name) => (
          <To to="/ldap/$mount/dynamic/$name" params={{ mount, name }}>
            {name}
          </To>
        )}
      />
    </LdapFrame>
  );
}
