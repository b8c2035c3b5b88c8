import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { To } from '../../parts/to.tsx';
import { BorrowUser } from './borrow-user.tsx';
import { databaseCrumbs } from './crumbs.tsx';

/** A user of a role, for those who may borrow one and see nothing else of the mount: the page to send to a colleague. */
export default function CredsPage() {
  const { mount = '', name = '' } = usePlace().params;
  return (
    <Page title={`A user of ${name}`} crumbs={databaseCrumbs(mount, 'roles')}>
      <Text size="sm" mb="md">
        The user is made in the database for you alone, and removed when its lease ends.{' '}
        <To to="/database/$mount/roles/$name" params={{ mount, name }}>
          What the role makes
        </To>
      </Text>
      <BorrowUser mount={mount} name={name} />
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom read ${shellWord(`${mount}/creds/${name}`)}` },
          { with: 'curl', command: `curl -H "X-Vault-Token: $VAULT_TOKEN" "$VAULT_ADDR/v1/"${shellWord(apiPath(mount, 'creds', name))}` },
        ]}
      />
    </Page>
  );
}
