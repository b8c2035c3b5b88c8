import { Stack, Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useNames } from '../../api/queries.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { NewByName } from '../../parts/new-by-name.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { LdapFrame } from './ldap-frame.tsx';
import { LendingBoard } from './lending-board.tsx';

/** Sets whose boards are drawn at once; the others are links. */
const DRAWN = 8;

/** The library as a board: the caller's loans on top, then every set with its accounts. */
export default function LibraryPage() {
  const { mount = '' } = usePlace().params;
  const go = useGo();
  const { folder = '' } = usePlace().search;
  const sets = useNames(apiPath(mount, 'library', ...(folder === '' ? [] : [folder.replace(/\/$/, '')])));
  return (
    <LdapFrame
      title="Library"
      section="library"
      actions={
        <NewByName
          label="Name of the new set"
          button="New set"
          needs={(name) => ({ path: `${mount}/library/${name}`, need: ['create', 'update'] })}
          onName={(set) => go('/ldap/$mount/library/$set', { mount, set })}
        />
      }
    >
      <Loaded query={sets}>
        {({ pages }) => {
          const keys = pages.flatMap((page) => page.keys);
          const names = keys.filter((key) => !key.endsWith('/')).map((key) => folder + key);
          const folders = keys.filter((key) => key.endsWith('/')).map((key) => folder + key);
          if (keys.length === 0) {
            return <Empty>A set is a group of accounts that are lent to one borrower at a time. There is none yet.</Empty>;
          }
          const drawn = names.slice(0, DRAWN);
          return (
            <Stack gap="xl">
              <div>
                {drawn.map((set) => (
                  <LendingBoard key={set} mount={mount} set={set} mine />
                ))}
              </div>
              {drawn.map((set) => (
                <section key={set} aria-labelledby={`set-${set}`}>
                  <h2 id={`set-${set}`}>
                    <To to="/ldap/$mount/library/$set" params={{ mount, set }}>
                      {set}
                    </To>
                  </h2>
                  <LendingBoard mount={mount} set={set} />
                </section>
              ))}
              {folders.length > 0 && (
                <section aria-labelledby="folders">
                  <h2 id="folders">Folders</h2>
                  <ul>
                    {folders.map((name) => (
                      <li key={name}>
                        <To to="/ldap/$mount/library" params={{ mount }} search={{ folder: name }}>
                          {name}
                        </To>
                      </li>
                    ))}
                  </ul>
                </section>
              )}
              {names.length > DRAWN && (
                <section aria-labelledby="more-sets">
                  <h2 id="more-sets">More sets</h2>
                  <ul>
                    {names.slice(DRAWN).map((set) => (
                      <li key={set}>
                        <To to="/ldap/$mount/library/$set" params={{ mount, set }}>
                          {set}
                        </To>
                      </li>
                    ))}
                  </ul>
                  <Text size="sm" c="dimmed">
                    Their boards are on their own pages.
                  </Text>
                </section>
              )}
            </Stack>
          );
        }}
      </Loaded>
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom list ${mount}/library\nstrongroom read ${mount}/library/SET/status` },
          {
            with: 'curl',
            command: `curl -H "X-Vault-Token: $STRONGROOM_TOKEN" "$STRONGROOM_ADDR/v1/${apiPath(mount, 'library')}?list=true"`,
          },
        ]}
      />
    </LdapFrame>
  );
}
