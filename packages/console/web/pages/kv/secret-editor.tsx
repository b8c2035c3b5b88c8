import { Button, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { FoundDraft } from '../../parts/found-draft.tsx';
import { useGo } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { ChangesTable } from './changes-table.tsx';
import { changesBetween } from './changes.ts';
import { ConflictView } from './conflict.tsx';
import { leavesOfRows, recordOf, rowsOf } from './edit-row.ts';
import { ImportValues } from './import-values.tsx';
import { dataPath } from './kv-mount.ts';
import { dataOf, isSame, leavesOf, type Leaf } from './leaves.ts';
import { readSecret, secretChanged, type SecretPart } from './secret.ts';
import type { Draft } from './unsaved.ts';
import { ValueRows } from './value-rows.tsx';
import classes from './kv.module.css';

interface SecretEditorProps extends SecretPart {
  /** What the changes begin from, where no unsaved ones are kept. */
  readonly begin: Draft;
  readonly form: string;
}

/** What stands in the store, when somebody else has changed it. */
interface Theirs {
  readonly leaves: readonly Leaf[];
  readonly version: number;
}

/**
 * Edits, then shows what differs, then saves, and only if the version that the changes began from is still the current one. Version 1 of key-value knows no check-and-set: there
 * the secret is read again right before it is written.
 */
export function SecretEditor({ mount, secret, begin, form }: SecretEditorProps) {
  const client = useQueryClient();
  const go = useGo();
  const { draft, found, change: keep, redraw, drop } = useDraft(form, begin);
  const { rows, json, base, version } = draft;
  const [fault, setFault] = useState<string>();
  const [reviewed, setReviewed] = useState<readonly Leaf[]>();
  const [theirs, setTheirs] = useState<Theirs>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const at = { mount: mount.path, rest: secret };

  const change = (next: Partial<Draft>): void => {
    keep({ ...draft, ...next });
    setFault(undefined);
  };
  const leave = (): void => {
    drop();
    go('/kv/$mount/show/$', at);
  };
  /** The values as they are edited now. Undefined where they are none; then the page says why. */
  const edited = (): readonly Leaf[] | undefined => {
    try {
      const leaves = json === undefined ? leavesOfRows(rows) : leavesOf(recordOf(json));
      dataOf(leaves);
      return leaves;
    } catch (caught) {
      setFault((caught as Error).message);
      return undefined;
    }
  };
  const review = (): void => {
    const leaves = edited();
    if (!leaves) return;
    if (json !== undefined) change({ rows: rowsOf(leaves), json: undefined });
    setReviewed(leaves);
  };
  const look = async (): Promise<Theirs> => {
    const { data, facts } = await readSecret(mount, secret);
    return { leaves: leavesOf(data ?? {}), version: facts?.version ?? 0 };
  };
  const save = async (leaves: readonly Leaf[]): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const data = dataOf(leaves);
      if (mount.version === 1) {
        const now = await look();
        if (!isSame(dataOf(now.leaves), dataOf(base))) return setTheirs(now);
      }
      await send('POST', apiPath(dataPath(mount, secret)), { body: mount.version === 2 ? { data, options: { cas: version } } : data });
      drop();
      await secretChanged(client, mount, secret);
      go('/kv/$mount/show/$', at);
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      if (isConflict(caught)) await look().then(setTheirs, (failed: unknown) => setError(failed as ApiError));
      else setError(caught);
    } finally {
      setBusy(false);
    }
  };

  if (theirs) {
    return (
      <ConflictView
        base={base}
        mine={reviewed ?? leavesOfRows(rows)}
        theirs={theirs.leaves}
        name={mount.version === 2 ? `version ${theirs.version}` : 'what is stored now'}
        settle={(leaves) => {
          change({ rows: rowsOf(leaves), base: theirs.leaves, version: theirs.version });
          setReviewed(leaves);
          setTheirs(undefined);
        }}
        back={() => {
          setTheirs(undefined);
          setReviewed(undefined);
        }}
      />
    );
  }
  if (reviewed) {
    const changes = changesBetween(base, reviewed);
    return (
      <Stack>
        <ChangesTable changes={changes} before={version === 0 ? 'before' : `version ${version}`} after="after the save" />
        {error && <ServerError error={error} />}
        <Group>
          <ActionButton
            size="sm"
            loading={busy}
            disabled={changes.every(({ kind }) => kind === 'same')}
            needs={{ path: dataPath(mount, secret), need: version === 0 && base.length === 0 ? ['create', 'update'] : 'update' }}
            onClick={() => void save(reviewed)}
          >
            {mount.version === 2 ? `Save version ${version + 1}` : 'Save'}
          </ActionButton>
          <Button variant="default" onClick={() => setReviewed(undefined)}>
            Back
          </Button>
        </Group>
        <Text size="sm" c="dimmed">
          {mount.version === 2
            ? `It is saved only if version ${version} is still the current one.`
            : 'This mount keeps no versions. The secret is read again right before it is saved; a change in that moment would be lost.'}
        </Text>
      </Stack>
    );
  }
  return (
    <Stack>
      {found && <FoundDraft drop={leave} />}
      <Group justify="space-between">
        <SegmentedControl
          aria-label="How values are edited"
          transitionDuration={0}
          data={[
            { value: 'rows', label: 'Values' },
            { value: 'json', label: 'JSON' },
          ]}
          value={json === undefined ? 'rows' : 'json'}
          onChange={(kind) => {
            const leaves = edited();
            if (!leaves) return;
            const next = kind === 'json' ? { json: JSON.stringify(dataOf(leaves), null, 2) } : { rows: rowsOf(leaves), json: undefined };
            redraw({ ...draft, ...next });
          }}
        />
        <ImportValues
          bring={(leaves) => {
            const now = edited();
            if (!now) return;
            const brought = new Set(leaves.map(({ path }) => JSON.stringify(path)));
            change({ rows: rowsOf([...now.filter(({ path }) => !brought.has(JSON.stringify(path))), ...leaves]), json: undefined });
          }}
        />
      </Group>
      {json === undefined ? (
        <ValueRows rows={rows} change={(next) => change({ rows: next })} />
      ) : (
        <Textarea
          className={classes.mono}
          label="The whole secret"
          description="Everything is shown here."
          autosize
          minRows={10}
          maxRows={30}
          spellCheck={false}
          value={json}
          onChange={({ currentTarget }) => change({ json: currentTarget.value })}
        />
      )}
      {fault !== undefined && (
        <Text role="alert" size="sm" c="red">
          {fault}
        </Text>
      )}
      <Group>
        <Button onClick={review}>Review changes</Button>
        <Button variant="default" onClick={leave}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}

/** The server's sentences for a version that is no longer the current one. */
function isConflict(error: ApiError): boolean {
  return (
    (error.status === 400 || error.status === 412) &&
    error.errors.some((sentence) => sentence.includes('check-and-set parameter did not match'))
  );
}
