import { apiPath } from '../../api/api-path.ts';
import { useAct, useNames } from '../../api/queries.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { When } from '../../parts/when.tsx';

/** Users that this mount made in the account and that no lease will remove. */
export function CloudOrphans({ mount }: { readonly mount: string }) {
  const orphans = useNames(apiPath(mount, 'orphans'));
  return (
    <Loaded query={orphans}>
      {({ pages }) => (
        <DataTable
          label="Orphans"
          labelHidden
          rows={pages.flatMap(({ keys, keyInfo }) => keys.map((name) => ({ name, info: keyInfo[name] ?? {} })))}
          id={({ name }) => name}
          empty={<Empty>No user was left behind: everything that this mount made has a lease.</Empty>}
          columns={[
            { title: 'User', main: true, cell: ({ name }) => name },
            { title: 'Why', cell: ({ info }) => String(info.reason) },
            { title: 'Made', cell: ({ info }) => <When time={String(info.created)} /> },
            { title: 'Action', cell: ({ name }) => <Remove mount={mount} name={name} /> },
          ]}
        />
      )}
    </Loaded>
  );
}

function Remove({ mount, name }: { readonly mount: string; readonly name: string }) {
  const remove = useAct({ method: 'DELETE', path: apiPath(mount, 'orphans', name), stale: [apiPath(mount, 'orphans')] });
  return (
    <ConfirmAction
      label="Remove"
      needs={{ path: `${mount}/orphans/${name}`, need: 'delete', sudo: true }}
      act={() => remove.mutateAsync(undefined)}
    >
      The user <strong>{name}</strong> is removed from the account with its keys and policies.
    </ConfirmAction>
  );
}
