import { Alert, Stack, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { dataOf, useApiDocument } from '../../api/openapi.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DeclaredAnswer } from '../../parts/declared-answer.tsx';
import { PathForm } from '../../parts/form/path-form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { shellWord } from '../../parts/shell-word.ts';
import { To } from '../../parts/to.tsx';
import { makeStale, queryClient } from '../../api/queries.ts';
import { PLACES, STALE, wholePath, type Kind, type Mounted } from './mounts.ts';

/** One mount: what it is, how it is tuned, and its end. */
export default function MountPage() {
  const { params } = usePlace();
  const kind: Kind = params.kind === 'auth' ? 'auth' : 'secret';
  const { mount = '' } = params;
  const place = PLACES[kind];
  const stored = useRead<Mounted & Record<string, unknown>>(apiPath(place, mount));
  const document = useApiDocument();
  const whole = wholePath(kind, mount);
  return (
    <Page
      title={`${mount}/`}
      crumbs={[<To to="/mounts">Mounts</To>]}
      beside={
        <To to="/engine/$mount" params={{ mount: whole }}>
          What it offers
        </To>
      }
    >
      <Loaded query={stored}>
        {({ data }) => (
          <Stack gap="xl">
            {data.quarantine !== undefined && (
              <Alert color="red" variant="light" title="Quarantined">
                {data.quarantine}
              </Alert>
            )}
            {data.removing && (
              <Alert color="yellow" variant="light" title="Being removed">
                {data.removing.reasons.join(' ') || 'What it issued is being taken back.'}
              </Alert>
            )}
            <Loaded query={document}>
              {(found) => (
                <DeclaredAnswer document={found} schema={dataOf(found, found.paths[`/${place}/{path}`]?.get)} data={{ ...data }} />
              )}
            </Loaded>
            <Tuning kind={kind} mount={mount} />
            <Move from={whole} />
            <End kind={kind} mount={mount} type={data.type} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

interface MountProps {
  readonly kind: Kind;
  readonly mount: string;
}

function Tuning({ kind, mount }: MountProps) {
  const at = apiPath(PLACES[kind], mount, 'tune');
  const stored = useRead(at);
  return (
    <section aria-labelledby="tuning">
      <Title order={2} size="h4" id="tuning" mb="sm">
        Tuning
      </Title>
      <Loaded query={stored}>
        {({ data }) => (
          <PathForm
            path={at}
            stored={data}
            submit="Save"
            needs={{ path: `${PLACES[kind]}/${mount}/tune`, need: 'update' }}
            stale={[at, ...STALE]}
          />
        )}
      </Loaded>
    </section>
  );
}

function Move({ from }: { readonly from: string }) {
  const [to, setTo] = useState('');
  const go = useGo();
  const act = useAct({ method: 'POST', path: 'sys/remount', stale: STALE, done: () => go('/mounts') });
  return (
    <section aria-labelledby="move">
      <Title order={2} size="h4" id="move" mb="sm">
        Move
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ from, to: to.trim() });
        }}
      >
        <Stack align="flex-start" gap="sm">
          <TextInput
            label="New path"
            description="What was issued below the old path is revoked; settings and data move. Policies that name the old path do not."
            required
            maw="44rem"
            placeholder={from}
            autoComplete="off"
            value={to}
            onChange={({ currentTarget }) => setTo(currentTarget.value)}
          />
          {act.error && <ServerError error={act.error} />}
          <ActionButton type="submit" variant="default" needs={{ path: 'sys/remount', need: ['update', 'sudo'] }} loading={act.isPending}>
            Move
          </ActionButton>
        </Stack>
      </form>
    </section>
  );
}

function End({ kind, mount, type }: MountProps & { readonly type: string }) {
  const go = useGo();
  const whole = wholePath(kind, mount);
  const leases = useRead<{ leases: number; next?: string }>('sys/leases/totals', { query: { prefix: `${whole}/` } });
  const count = leases.data && `${leases.data.data.leases}${leases.data.data.next === undefined ? '' : ' or more'}`;
  const words = kind === 'auth' ? 'auth' : 'secrets';
  return (
    <section aria-labelledby="end">
      <Title order={2} size="h4" id="end" mb="sm">
        Disable
      </Title>
      <Stack align="flex-start" gap="sm">
        <ConfirmAction
          label={`Disable ${whole}/`}
          typed={mount}
          needs={{ path: `${PLACES[kind]}/${mount}`, need: 'delete' }}
          act={async () => {
            await send('DELETE', apiPath(PLACES[kind], mount));
            await makeStale(queryClient, STALE);
            go('/mounts');
          }}
        >
          <p>
            {count === undefined
              ? 'Everything that it issued is revoked.'
              : `${count} ${kind === 'auth' ? 'tokens and leases' : 'leases'} of this mount are revoked.`}{' '}
            Then everything that the {type} {kind === 'auth' ? 'login method' : 'engine'} stores is deleted. This cannot be undone.
          </p>
        </ConfirmAction>
        <CommandLines
          lines={[
            { with: 'CLI', command: `strongroom ${words} disable ${shellWord(`${mount}/`)}` },
            {
              with: 'curl',
              command: `curl -X DELETE -H "X-Vault-Token: $STRONGROOM_TOKEN" ${shellWord(`${window.location.origin}/v1/${apiPath(PLACES[kind], mount)}`)}`,
            },
          ]}
        />
      </Stack>
    </section>
  );
}
