import { Alert, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { ApiError } from '../../api/api-error.ts';
import { makeStale, queryClient, useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { FailingThing } from '../../parts/failing-thing.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { When } from '../../parts/when.tsx';
import { boardPaths, borrowerName, giveBack, type LibraryAccount, type WaitingShown } from './library-accounts.ts';

interface BoardProps {
  readonly mount: string;
  readonly set: string;
  /** Only the loans of the caller, for the top of the page. */
  readonly mine?: boolean;
}

const EVERY = 5_000;
/** So many failing accounts are shown with their tries. */
const MOST = 5;

export function useStatus(mount: string, set: string) {
  return useRead<Record<string, LibraryAccount>>(apiPath(mount, 'library', set, 'status'), { every: EVERY });
}

/** The accounts of a set: free, lent to whom and until when, or on their way back. */
export function LendingBoard({ mount, set, mine = false }: BoardProps) {
  const status = useStatus(mount, set);
  return (
    <Loaded query={status}>
      {({ data }) => {
        const all = Object.entries(data);
        const rows = mine ? all.filter(([, { borrowed_by_you }]) => borrowed_by_you) : all;
        if (mine && rows.length === 0) return null;
        const failing = mine ? [] : all.filter(([, { rotation }]) => rotation.last_error !== null);
        return (
          <>
            <DataTable
              label={mine ? `Lent to you from ${set}` : `Accounts of ${set}`}
              labelHidden={!mine}
              rows={rows}
              id={([name]) => name}
              columns={[
                { title: 'Account', main: true, cell: ([name]) => name },
                { title: 'State', cell: ([, account]) => <AccountState account={account} /> },
                {
                  title: 'Until',
                  cell: ([, { available, borrowed_since, borrowed_until }]) =>
                    borrowed_until ? <When time={borrowed_until} /> : !available && borrowed_since ? 'no limit' : '–',
                },
                { title: 'Since', cell: ([, { borrowed_since }]) => (borrowed_since ? <When time={borrowed_since} /> : '–') },
                { title: 'Action', end: true, cell: ([name, account]) => <Return mount={mount} set={set} name={name} account={account} /> },
              ]}
            />
            {failing.slice(0, MOST).map(([name]) => (
              <section key={name} aria-label={`Account ${name}`}>
                <h3>{name}</h3>
                <FailingThing
                  mount={`${mount}/`}
                  kind="rotate-library-account"
                  id={name.trim().toLowerCase()}
                  stale={boardPaths(mount, set)}
                />
              </section>
            ))}
          </>
        );
      }}
    </Loaded>
  );
}

function AccountState({ account }: { readonly account: LibraryAccount }) {
  if (account.borrowed_by_you) return <StateChip mood="wait">lent to you</StateChip>;
  if (account.borrowed_since) return <StateChip mood="wait">{`lent to ${borrowerName(account)}`}</StateChip>;
  if (account.available) return <StateChip mood="good">free</StateChip>;
  if (account.rotation.state === 'taken_over') return <StateChip mood="warn">taken over by another manager</StateChip>;
  return (
    <Stack gap={2}>
      <StateChip mood={account.rotation.attempts > 0 ? 'bad' : 'wait'}>changing its password</StateChip>
      {account.rotation.last_error && <Text size="xs">{account.rotation.last_error.message}</Text>}
    </Stack>
  );
}

/** A borrower's return, or the return of another's loan by force. */
function Return({ mount, set, name, account }: BoardProps & { readonly name: string; readonly account: LibraryAccount }) {
  const [error, setError] = useState<ApiError>();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  if (!account.borrowed_since) return null;
  const act = async (forced: boolean): Promise<void> => {
    setWarnings(await giveBack(mount, set, name, forced));
    await makeStale(queryClient, boardPaths(mount, set));
  };
  if (!account.borrowed_by_you) {
    return (
      <ConfirmAction
        label={`Take ${name} back`}
        needs={{ path: `${mount}/library/manage/${set}/check-in`, need: 'update' }}
        act={async () => act(true)}
      >
        Its borrower, {borrowerName(account)}, loses the account at once: its password is changed, and whatever uses it stops working.
      </ConfirmAction>
    );
  }
  return (
    <>
      <ActionButton
        variant="default"
        loading={busy}
        needs={{ path: `${mount}/library/${set}/check-in`, need: 'update' }}
        aria-label={`Return ${name}`}
        onClick={() => {
          setBusy(true);
          setError(undefined);
          act(false)
            .catch((caught: unknown) => setError(caught as ApiError))
            .finally(() => setBusy(false));
        }}
      >
        {`Return ${name}`}
      </ActionButton>
      {error && <ServerError error={error} />}
      {warnings.map((warning) => (
        <Alert key={warning} color="yellow" variant="light">
          {warning}
        </Alert>
      ))}
    </>
  );
}

/** Who waits, and when an account is free at the earliest. Absent where the token may not see it. */
export function WaitingBoard({ mount, set }: BoardProps) {
  const waiting = useRead<WaitingShown>(apiPath(mount, 'library', set, 'waiting'), { every: EVERY });
  if (waiting.error instanceof ApiError && waiting.error.status === 403) {
    return (
      <Text size="sm" c="dimmed">
        Who waits is not shown: missing read on {mount}/library/{set}/waiting.
      </Text>
    );
  }
  return (
    <Loaded query={waiting}>
      {({ data }) => (
        <>
          <Text size="sm" role="status">
            {data.available > 0 ? `${data.available} free.` : 'None is free.'}{' '}
            {data.available === 0 &&
              (data.earliest === null ? (
                'No loan has an end.'
              ) : (
                <>
                  Free at the latest <When time={data.earliest} />, or as soon as somebody returns one.
                </>
              ))}{' '}
            {data.waiting.length === 0 ? 'Nobody waits.' : `${data.waiting.length} wait.`}
          </Text>
          {data.waiting.length > 0 && (
            <DataTable
              label={`Waiting for ${set}`}
              rows={data.waiting}
              id={({ position }) => String(position)}
              columns={[
                { title: 'Place', main: true, cell: ({ position }) => position },
                { title: 'Who', cell: (one) => (one.you ? 'you' : borrowerName(one)) },
                { title: 'Since', cell: ({ since }) => <When time={since} /> },
                { title: 'Gives up', cell: ({ until }) => <When time={until} /> },
              ]}
            />
          )}
        </>
      )}
    </Loaded>
  );
}
