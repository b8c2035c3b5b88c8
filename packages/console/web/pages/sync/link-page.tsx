import { Alert, Checkbox, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { useMounts } from '../../api/mounts.ts';
import { makeStale, queryClient } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { DestinationFrame } from './destination-frame.tsx';
import { HeldNotice } from './hold.tsx';
import { patternOf } from './rule-pattern.ts';
import { walkSecrets } from './walk-secrets.ts';

interface Named {
  readonly secret_name: string;
  readonly linked?: boolean;
  readonly remote_names: readonly string[];
  readonly error?: string;
}

/** Links many secrets at once: a glob, what it finds, and how each copy will be named outside. */
export default function LinkPage() {
  const { type = '', name = '' } = usePlace().params;
  const place = `sys/sync/destinations/${type}/${name}`;
  const mounts = useMounts('secret', ['kv', 'kv-v2']);
  const [mount, setMount] = useState('');
  const [glob, setGlob] = useState('**');
  const [found, setFound] = useState<{ readonly secrets: readonly Named[]; readonly more: boolean; readonly mount: string }>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { running, error, attempt } = useAttempt<'look' | 'link' | 'rule'>();
  const [done, setDone] = useState<{ readonly linked: number; readonly failed: readonly string[]; readonly rule?: string }>();
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const controller = new AbortController();
    leaving.current = controller;
    return () => controller.abort();
  }, []);
  const from = mount === '' ? (mounts.data?.mounts[0]?.path ?? '') : mount;
  const look = async (): Promise<void> => {
    setDone(undefined);
    const { names, more } = await walkSecrets(from, glob.trim(), leaving.current.signal);
    const path = apiPath('sys', 'sync', 'destinations', type, name, 'names');
    const secrets =
      names.length === 0
        ? []
        : (await send<{ secrets: Named[] }>('POST', path, { body: { mount: from, secret_names: names } })).data.secrets;
    setFound({ secrets, more, mount: from });
    setChosen(new Set(secrets.filter(({ linked, error: why }) => !linked && why === undefined).map(({ secret_name }) => secret_name)));
  };
  const link = async (): Promise<void> => {
    const failed: string[] = [];
    let linked = 0;
    for (const secret of chosen) {
      try {
        await send('POST', apiPath('sys', 'sync', 'destinations', type, name, 'associations', 'set'), {
          body: { mount: found!.mount, secret_name: secret, wait: 0 },
          signal: leaving.current.signal,
        });
        linked += 1;
      } catch (caught) {
        if (!(caught instanceof ApiError)) throw caught;
        failed.push(`${secret}: ${caught.errors.join('; ')}`);
      }
    }
    await makeStale(queryClient, [place]);
    await look();
    setDone({ linked, failed });
  };
  const pattern = patternOf(glob.trim());
  const linkLater = async (): Promise<void> => {
    const { data } = await send<{ associated_secrets: Record<string, unknown> }>(
      'POST',
      apiPath('sys', 'sync', 'destinations', type, name, 'associations', 'set'),
      { body: { mount: found!.mount, secret_name: pattern, wait: 2 }, signal: leaving.current.signal },
    );
    await makeStale(queryClient, [place]);
    await look();
    setDone({ linked: Object.keys(data.associated_secrets).length, failed: [], ...(pattern === undefined ? {} : { rule: pattern }) });
  };
  return (
    <DestinationFrame section="link" title={`Link secrets with ${type}/${name}`}>
      <HeldNotice />
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void attempt(look, 'look');
        }}
      >
        <Group gap="sm" align="flex-end">
          <NativeSelect
            size="xs"
            label="Mount"
            data={(mounts.data?.mounts ?? []).map(({ path }) => path)}
            value={from}
            onChange={({ currentTarget }) => setMount(currentTarget.value)}
          />
          <TextInput
            size="xs"
            label="Secrets (* in a folder, ** below)"
            value={glob}
            autoComplete="off"
            spellCheck={false}
            onChange={({ currentTarget }) => setGlob(currentTarget.value)}
          />
          <ActionButton
            type="submit"
            variant="default"
            loading={running === 'look'}
            disabled={from === '' || glob.trim() === ''}
            needs={{ path: `${place}/names`, need: ['update', 'create'] }}
          >
            Show the names outside
          </ActionButton>
        </Group>
      </form>
      <Stack gap="md" mt="md">
        {error && <ServerError error={error} />}
        {done && (
          <Alert role="status" color={done.failed.length > 0 ? 'yellow' : 'green'} variant="light">
            {done.linked} linked. Their copies are written in the background.
            {done.rule !== undefined && ` The rule ${done.rule} links secrets that come later as well.`}
            {done.failed.map((text) => (
              <Text key={text} size="sm">
                {text}
              </Text>
            ))}
          </Alert>
        )}
        {found && (
          <>
            <Text size="sm" role="status">
              {found.secrets.length} found{found.more ? ', and there are more: narrow the pattern' : ''}. {chosen.size} chosen.
            </Text>
            {found.secrets.length > 0 && (
              <Group>
                <ActionButton
                  loading={running === 'link'}
                  disabled={chosen.size === 0}
                  needs={{ path: `${place}/associations/set`, need: ['update', 'create'] }}
                  onClick={() => void attempt(link, 'link')}
                >
                  {`Link ${chosen.size}`}
                </ActionButton>
                {pattern !== undefined && (
                  <ActionButton
                    variant="default"
                    loading={running === 'rule'}
                    needs={{ path: `${place}/associations/set`, need: ['update', 'create'] }}
                    onClick={() => void attempt(linkLater, 'rule')}
                  >
                    Link all, and those that come later
                  </ActionButton>
                )}
              </Group>
            )}
            <DataTable
              label="Secrets and their names outside"
              labelHidden
              rows={found.secrets}
              id={({ secret_name }) => secret_name}
              empty={<Empty>No secret that you can list fits the pattern.</Empty>}
              columns={[
                {
                  title: 'Secret',
                  main: true,
                  cell: ({ secret_name, linked, error: why }) => (
                    <Checkbox
                      label={secret_name}
                      checked={chosen.has(secret_name)}
                      disabled={linked === true || why !== undefined}
                      onChange={({ currentTarget }) => {
                        const next = new Set(chosen);
                        if (currentTarget.checked) next.add(secret_name);
                        else next.delete(secret_name);
                        setChosen(next);
                      }}
                    />
                  ),
                },
                { title: 'Name outside', cell: ({ remote_names }) => remote_names.map((one) => <div key={one}>{one}</div>) },
                { title: 'State', cell: ({ linked, error: why }) => why ?? (linked ? 'linked already' : 'new') },
              ]}
            />
          </>
        )}
      </Stack>
    </DestinationFrame>
  );
}
