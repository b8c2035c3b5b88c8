import { apiPath } from '../../api/api-path.ts';
import { Empty } from '../../parts/empty.tsx';
import { FolderedNames } from '../../parts/foldered-names.tsx';
import { NewByName } from '../../parts/new-by-name.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { LdapFrame } from './ldap-frame.tsx';

/** Accounts whose password is rotated. */
export default function StaticRolesPage() {
  const { mount = '' } = usePlace().params;
  const go = useGo();
  return (
    <LdapFrame
      title="Static roles"
      section="static"
      actions={
        <NewByName
          label="Name of the new role"
          button="New role"
          needs={(name) => ({ path: `${mount}/static-role/${name}`, need: ['create', 'update'] })}
          onName={(name) => go('/ldap/$mount/static/$name', { mount, name })}
        />
      }
    >
      <FolderedNames
        list={apiPath(mount, 'static-role')}
        label="Static roles"
        page="/ldap/$mount/static"
        params={{ mount }}
        empty={<Empty>A static role rotates the password of an account that is in the directory already. There is none yet.</Empty>}
        row={(name) => (
          <To to="/ldap/$mount/static/$name" params={{ mount, name }}>
            {name}
          </To>
        )}
      />
    </LdapFrame>
  );
}
