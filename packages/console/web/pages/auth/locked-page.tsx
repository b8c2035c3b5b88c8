import { apiPath } from '../../api/api-path.ts';
import { makeStale, queryClient, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Unreached } from '../../parts/unreached.tsx';
import { MethodFrame } from './method-frame.tsx';
import { useMethod } from './use-method.ts';

interface Locked {
  readonly by_namespace: readonly {
    readonly mount_accessors: readonly { readonly mount_accessor: string; readonly alias_identifiers: readonly string[] }[];
  }[];
}

/** Names that the lockout refuses at this method, and their unlocking. */
export default function LockedPage() {
  const here = useMethod();
  const accessor = here.shown?.accessor ?? '';
  const locked = useRead<Locked>('sys/locked-users', { query: { mount_accessor: accessor }, enabled: accessor !== '', every: 10_000 });
  return (
    <MethodFrame here={here} title="Locked names" section="locked">
      {accessor === '' ? (
        <Unreached path="sys/auth">
          Locked names are asked for by the accessor of the method, which the server does not tell this token.
        </Unreached>
      ) : (
        <Loaded query={locked}>
          {({ data }) => (
            <DataTable
              label="Locked names"
              labelHidden
              rows={data.by_namespace
                .flatMap(({ mount_accessors }) => mount_accessors)
                .flatMap(({ alias_identifiers }) => alias_identifiers)}
              id={(name) => name}
              empty={<Empty>No name is locked. A name is locked after too many refused logins.</Empty>}
              columns={[
                { title: 'Name', main: true, cell: (name) => name },
                {
                  title: 'Action',
                  end: true,
                  cell: (name) => (
                    <ConfirmAction
                      color="blue"
                      label={`Unlock ${name}`}
                      needs={{ path: `sys/locked-users/${accessor}/unlock/${name}`, need: 'update' }}
                      act={async () => {
                        await send('POST', apiPath('sys', 'locked-users', accessor, 'unlock', name));
                        await makeStale(queryClient, ['sys/locked-users']);
                      }}
                    >
                      The name may try again at once, and its refused logins are forgotten. If somebody guesses its password, that goes on.
                    </ConfirmAction>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      )}
    </MethodFrame>
  );
}
