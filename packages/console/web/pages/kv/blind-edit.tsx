import { Alert, Group, Radio, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import type { Json } from '../../api/exact-json.ts';
import { useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { FoundDraft } from '../../parts/found-draft.tsx';
import { useGo } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { leavesOfRows, newRow, type EditRow } from './edit-row.ts';
import { dataPath, folderOf } from './kv-mount.ts';
import { dataOf, leavesOf, pathText } from './leaves.ts';
import { secretChanged, type SecretPart } from './secret.ts';
import { formOf } from './unsaved.ts';
import { ValueRows } from './value-rows.tsx';

/** What `subkeys` tells: the names of the keys, and which version they are of. */
interface Subkeys {
  readonly subkeys: Readonly<Record<string, Json>>;
  readonly metadata: { readonly version: number };
}

/**
 * Writes a secret that the token may not read: single keys by a patch, or the whole. The names of the keys are shown where the token may read those. A save names the version
 * that it replaces where that is known.
 */
export function BlindEdit({ mount, secret }: SecretPart) {
  const go = useGo();
  const client = useQueryClient();
  const versioned = mount.version === 2;
  const keys = useRead<Subkeys>(apiPath(mount.path, 'subkeys', secret), { enabled: versioned });
  const known = keys.data?.data;
  const { draft: rows, found, change, drop } = useDraft<readonly EditRow[]>(`blind ${formOf(mount, secret)}`, BEGIN);
  const [how, setHow] = useState<'patch' | 'replace'>(versioned ? 'patch' : 'replace');
  const [fault, setFault] = useState<string>();
  const { busy, error, attempt } = useAttempt();
  const path = dataPath(mount, secret);
  const values = (): Record<string, Json> | undefined => {
    try {
      setFault(undefined);
      return dataOf(leavesOfRows(rows));
    } catch (caught) {
      setFault((caught as Error).message);
      return undefined;
    }
  };
  const save = async (): Promise<void> => {
    const data = values();
    if (!data) return;
    const options = known ? { cas: known.metadata.version } : {};
    const body = versioned ? { data, options } : data;
    if (how === 'patch') await send('PATCH', apiPath(path), { body });
    else await send('POST', apiPath(path), { body });
    drop();
    await secretChanged(client, mount, secret);
    go('/kv/$mount/list/$', { mount: mount.path, rest: folderOf(secret).replace(/\/$/, '') });
  };
  return (
    <Stack>
      <Alert color="yellow" variant="light" title="Your token may write this secret and not read it">
        <Text size="sm">
          {known
            ? `Version ${known.metadata.version} has these keys: ${leavesOf(known.subkeys)
                .map((leaf) => pathText(leaf.path))
                .join(', ')}. Their values stay unseen.`
            : 'What it holds now is not known here, and no difference can be shown before the save.'}
        </Text>
      </Alert>
      {found && <FoundDraft drop={() => drop()} />}
      {versioned && (
        <Radio.Group label="What the save does" value={how} onChange={(next) => setHow(next as typeof how)}>
          <Stack gap="xs" mt="xs">
            <Radio value="patch" label="Changes these keys, and keeps the others" description="The JSON null removes a key." />
            <Radio value="replace" label="Replaces the whole secret" description="Keys that are not here are in no new version." />
          </Stack>
        </Radio.Group>
      )}
      <ValueRows rows={rows} change={change} />
      {fault !== undefined && (
        <Text role="alert" size="sm" c="red">
          {fault}
        </Text>
      )}
      {error && <ServerError error={error} />}
      <Group>
        {how === 'patch' ? (
          <ActionButton size="sm" loading={busy} needs={{ path, need: 'patch' }} onClick={() => void attempt(save)}>
            Save these keys
          </ActionButton>
        ) : (
          <ConfirmAction size="sm" color="blue" label="Replace the secret" needs={{ path, need: ['update', 'create'] }} act={save}>
            {versioned
              ? `A new version holds these ${rows.length} keys alone. Old versions stay as long as the mount keeps them.`
              : `The secret holds these ${rows.length} keys alone, and what it held before is gone for good.`}
          </ConfirmAction>
        )}
      </Group>
      {how === 'replace' && versioned && !known && (
        <Text size="sm" c="dimmed">
          The version that it replaces is not known: somebody else's change in between would be replaced too.
        </Text>
      )}
    </Stack>
  );
}

const BEGIN: readonly EditRow[] = [newRow([])];
