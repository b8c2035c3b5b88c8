import { Button, Group, PasswordInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { StateChip, type Mood } from '../../parts/state-chip.tsx';
import { When } from '../../parts/when.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Section } from './section.tsx';
import { ServerFrame } from './server-frame.tsx';

interface Device {
  readonly path: string;
  readonly type: string;
  readonly description: string;
  readonly options: Readonly<Record<string, string>>;
  readonly status?: {
    readonly state: string;
    readonly written: number;
    readonly failed: number;
    readonly dropped: number;
    readonly waiting: number;
    readonly last_error: string | null;
    readonly last_error_time: string | null;
  };
}

const MOODS: Readonly<Record<string, Mood>> = { healthy: 'good', failing: 'bad', stalled: 'bad' };

/** Where requests are logged, how each device fares, and how to find a known value in a log that holds digests. */
export default function AuditPage() {
  const devices = useRead<Record<string, Device>>('sys/audit', { every: 10_000 });
  const [adding, setAdding] = useState(false);
  const client = useQueryClient();
  const disable = async (path: string): Promise<void> => {
    await send('DELETE', apiPath('sys/audit', path.replace(/\/$/, '')));
    await makeStale(client, ['sys/audit']);
  };
  return (
    <ServerFrame
      title="Audit devices"
      place="/server/audit"
      actions={
        <ActionButton needs={{ path: 'sys/audit/new', need: 'update', sudo: true }} onClick={() => setAdding(true)}>
          Add a device
        </ActionButton>
      }
    >
      <Loaded query={devices}>
        {({ data }) => (
          <DataTable
            label="Devices"
            labelHidden
            rows={Object.values(data)}
            id={({ path }) => path}
            empty={<Empty>No request is logged. With a device, a request that none of them can write is refused.</Empty>}
            columns={[
              { title: 'Path', main: true, cell: ({ path }) => path },
              { title: 'Type', cell: ({ type }) => type },
              { title: 'Where', cell: ({ options }) => options['file_path'] ?? options['uri'] ?? options['address'] ?? '' },
              { title: 'State', cell: ({ status }) => status && <DeviceState status={status} /> },
              { title: 'Lines', end: true, cell: ({ status }) => status?.written.toLocaleString() ?? '' },
              {
                title: 'Actions',
                cell: ({ path }) => (
                  <ConfirmAction
                    label={`Remove ${path}`}
                    size="compact-xs"
                    typed={path.replace(/\/$/, '')}
                    needs={{ path: `sys/audit/${path.replace(/\/$/, '')}`, need: 'delete', sudo: true }}
                    act={async () => disable(path)}
                  >
                    Requests are no longer written there. Digests of a device of the same name that is added later differ from those of this
                    one.
                  </ConfirmAction>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <FindValue paths={Object.keys(devices.data?.data ?? {})} />
      <CommandLines
        lines={[
          { with: 'CLI', command: 'strongroom audit list -detailed\nstrongroom audit enable file file_path=/var/log/strongroom/audit.log' },
          { with: 'curl', command: 'curl -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/sys/audit' },
        ]}
      />
      <Dialog title="Add an audit device" opened={adding} onClose={() => setAdding(false)}>
        <AddDevice
          done={() => {
            setAdding(false);
            void makeStale(client, ['sys/audit']);
          }}
        />
      </Dialog>
    </ServerFrame>
  );
}

function DeviceState({ status }: { readonly status: NonNullable<Device['status']> }) {
  return (
    <Stack gap={4} align="flex-start">
      <StateChip mood={MOODS[status.state] ?? (status.last_error === null ? 'good' : 'warn')}>{status.state}</StateChip>
      {status.last_error !== null && (
        <Text size="xs">
          {status.last_error} · <When time={status.last_error_time} />
        </Text>
      )}
      {status.dropped > 0 && <Text size="xs">{`${status.dropped} lines were dropped`}</Text>}
    </Stack>
  );
}

/** The digest of a value, to search a log for it. The value goes to the server and is not kept here. */
function FindValue({ paths }: { readonly paths: readonly string[] }) {
  const [chosen, setChosen] = useState<string>();
  const [input, setInput] = useState('');
  const [hash, setHash] = useState<string>();
  const { busy, error, attempt } = useAttempt();
  const path = (chosen ?? paths[0] ?? '').replace(/\/$/, '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setHash(undefined);
    void attempt(async () => {
      const { data } = await send<{ hash: string }>('POST', apiPath('sys/audit-hash', path), { body: { input } });
      setHash(data.hash);
      setInput('');
    });
  };
  return (
    <Section title="Find a value in the log">
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm" c="dimmed">
            Logs hold digests in place of secrets. This is the digest of one value in the lines of one device.
          </Text>
          <Group align="flex-end">
            {paths.length > 1 && (
              <Select
                label="Device"
                data={[...paths]}
                value={chosen ?? paths[0]!}
                allowDeselect={false}
                onChange={(next) => setChosen(next ?? undefined)}
              />
            )}
            <PasswordInput
              label="Value to find"
              autoComplete="off"
              value={input}
              onChange={({ currentTarget }) => setInput(currentTarget.value)}
              w={280}
            />
            <Button type="submit" variant="light" loading={busy} disabled={input === '' || path === ''}>
              Compute the digest
            </Button>
          </Group>
          {error && <ServerError error={error} />}
          {hash !== undefined && (
            <Group gap="xs" role="status">
              <Text size="sm" ff="monospace" className="wraps">
                {hash}
              </Text>
              <CopyButton icon value={hash} label="Copy the digest" />
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  );
}

function AddDevice({ done }: { readonly done: () => void }) {
  const [type, setType] = useState('file');
  const [path, setPath] = useState('');
  const [where, setWhere] = useState('');
  const [raw, setRaw] = useState(false);
  const { busy, error, attempt } = useAttempt();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      const options = { [type === 'file' ? 'file_path' : 'address']: where.trim(), ...(raw ? { log_raw: 'true' } : {}) };
      await send('POST', apiPath('sys/audit', path.trim() || type), { body: { type, options } });
      done();
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Select label="Type" data={['file', 'socket']} value={type} allowDeselect={false} onChange={(next) => setType(next ?? 'file')} />
        <TextInput label="Name" placeholder={type} value={path} onChange={({ currentTarget }) => setPath(currentTarget.value)} />
        <TextInput
          label={type === 'file' ? 'File' : 'Address'}
          description={
            type === 'file' ? 'A path on the server; stdout for its standard output.' : 'host:port, or the path of a Unix socket.'
          }
          required
          withAsterisk={false}
          value={where}
          onChange={({ currentTarget }) => setWhere(currentTarget.value)}
        />
        <Switch
          label="Write secrets as they are, not as digests"
          checked={raw}
          onChange={({ currentTarget }) => setRaw(currentTarget.checked)}
        />
        <Text size="sm" c="dimmed">
          The server writes a test line first. From then on, a request that no device can write is refused.
        </Text>
        {error && <ServerError error={error} />}
        <Button type="submit" loading={busy} disabled={where.trim() === ''}>
          Add the device
        </Button>
      </Stack>
    </form>
  );
}
