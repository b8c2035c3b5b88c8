import { Button, Checkbox, Group, NumberInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FoundDraft } from '../../parts/found-draft.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useGo } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { When } from '../../parts/when.tsx';
import { folderOf, metadataPath } from './kv-mount.ts';
import { secretChanged, useFacts, type SecretFacts, type SecretPart } from './secret.ts';
import classes from './kv.module.css';

/** What describes the secret, and how its versions are kept. */
export default function Metadata({ mount, secret }: SecretPart) {
  const query = useFacts(mount, secret);
  const [editing, setEditing] = useState(false);
  return (
    <Loaded query={query}>
      {(facts) =>
        !facts ? (
          <Empty>There is no secret here.</Empty>
        ) : editing ? (
          <MetadataForm mount={mount} secret={secret} facts={facts} done={() => setEditing(false)} />
        ) : (
          <MetadataFacts mount={mount} secret={secret} facts={facts} edit={() => setEditing(true)} />
        )
      }
    </Loaded>
  );
}

function MetadataFacts({ mount, secret, facts, edit }: SecretPart & { readonly facts: SecretFacts; readonly edit: () => void }) {
  const go = useGo();
  const client = useQueryClient();
  const path = metadataPath(mount, secret);
  const count = Object.keys(facts.versions).length;
  return (
    <Stack>
      <Facts
        facts={[
          ...Object.entries(facts.custom_metadata ?? {}).map(([label, value]) => ({ label, value })),
          { label: 'Created', value: <When time={facts.created_time} /> },
          { label: 'Last change', value: <When time={facts.updated_time} /> },
          { label: 'Versions', value: `${count} kept, the oldest is ${facts.oldest_version || 1}` },
          { label: 'Versions kept at most', value: facts.max_versions === 0 ? 'as the mount says (10 by default)' : facts.max_versions },
          {
            label: 'New versions delete themselves',
            value: facts.delete_version_after === '0s' ? 'as the mount says' : `after ${facts.delete_version_after}`,
          },
          {
            label: 'Check-and-set',
            value: facts.cas_required ? 'required of every program' : 'as the mount says; the console always does it',
          },
        ]}
      />
      <Group>
        <ActionButton variant="default" needs={{ path, need: 'update' }} onClick={edit}>
          Edit metadata
        </ActionButton>
        <ConfirmAction
          label="Remove the secret"
          needs={{ path, need: 'delete' }}
          typed={secret}
          act={async () => {
            await send('DELETE', apiPath(path));
            await secretChanged(client, mount, secret);
            go('/kv/$mount/list/$', { mount: mount.path, rest: folderOf(secret).replace(/\/$/, '') });
          }}
        >
          {count === 1 ? 'Its version' : `All ${count} versions`} and the metadata will be gone for good. Nobody can bring them back.
        </ConfirmAction>
      </Group>
    </Stack>
  );
}

interface Row {
  readonly id: number;
  readonly key: string;
  readonly value: string;
}

interface MetadataDraft {
  readonly rows: readonly Row[];
  readonly most: number;
  readonly after: string;
  readonly cas: boolean;
  /** The version of the metadata that a save replaces. */
  readonly version: number;
}

function begun(facts: SecretFacts): MetadataDraft {
  return {
    rows: Object.entries(facts.custom_metadata ?? {}).map(([key, value], id) => ({ id, key, value })),
    most: facts.max_versions,
    after: facts.delete_version_after,
    cas: facts.cas_required,
    version: facts.current_metadata_version,
  };
}

function MetadataForm({ mount, secret, facts, done }: SecretPart & { readonly facts: SecretFacts; readonly done: () => void }) {
  const client = useQueryClient();
  const { draft, found, change, drop } = useDraft(`metadata ${mount.path}/${secret}`, begun(facts));
  const { rows, most, after, cas } = draft;
  const [error, setError] = useState<ApiError>();
  const setRows = (next: readonly Row[]): void => change({ ...draft, rows: next });
  const set = (id: number, part: Partial<Row>): void => setRows(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const twice = rows.find(({ key }, at) => rows.findIndex((other) => other.key === key) < at);
  const save = async (): Promise<void> => {
    setError(undefined);
    try {
      await send('POST', apiPath(metadataPath(mount, secret)), {
        body: {
          custom_metadata: Object.fromEntries(rows.map(({ key, value }) => [key, value])),
          max_versions: most,
          delete_version_after: after,
          cas_required: cas,
          metadata_cas: draft.version,
        },
      });
      drop();
      await secretChanged(client, mount, secret);
      done();
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Stack maw={640}>
        {found && <FoundDraft drop={() => drop()} />}
        <Title order={2} size="h4">
          What describes the secret
        </Title>
        <Text size="sm" c="dimmed">
          Everybody who may read the metadata sees these texts: keep no secret in them.
        </Text>
        <ul className={classes.rows}>
          {rows.map(({ id, key, value }) => (
            <li key={id}>
              <TextInput aria-label="Key" value={key} required onChange={({ currentTarget }) => set(id, { key: currentTarget.value })} />
              <TextInput
                aria-label={`Text of ${key}`}
                value={value}
                onChange={({ currentTarget }) => set(id, { value: currentTarget.value })}
              />
              <Button variant="default" aria-label={`Remove ${key}`} onClick={() => setRows(rows.filter((row) => row.id !== id))}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
        <div>
          <Button
            size="xs"
            variant="default"
            onClick={() => setRows([...rows, { id: Math.max(-1, ...rows.map((row) => row.id)) + 1, key: '', value: '' }])}
          >
            Add a text
          </Button>
        </div>
        <NumberInput
          label="Versions kept at most"
          description="0: as the mount says."
          min={0}
          allowDecimal={false}
          value={most}
          onChange={(value) => change({ ...draft, most: Number(value) })}
        />
        <TextInput
          label="New versions delete themselves after"
          description="Such as 720h; 0s: as the mount says."
          value={after}
          onChange={({ currentTarget }) => change({ ...draft, after: currentTarget.value })}
        />
        <Checkbox
          label="Every write must say which version it replaces"
          checked={cas}
          onChange={({ currentTarget }) => change({ ...draft, cas: currentTarget.checked })}
        />
        {twice && (
          <Text role="alert" size="sm" c="red">
            The key {twice.key} stands twice.
          </Text>
        )}
        {error && <ServerError error={error} />}
        <Group>
          <Button type="submit" disabled={twice !== undefined}>
            Save
          </Button>
          <Button
            variant="default"
            onClick={() => {
              drop();
              done();
            }}
          >
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
