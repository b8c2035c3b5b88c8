import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { useDeclaredPaths } from '../../api/declared-paths.ts';
import { makeStale } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import type { PlaceInText } from '../../parts/code-editor-view.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { TextDiff } from '../../parts/text-diff.tsx';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import classes from './access.module.css';
import { Complaints } from './complaints.tsx';
import { Holders } from './holders.tsx';
import { policyCompletion } from './policy-completion.ts';
import { policyWrite, type SavedPolicy } from './saved-policy.ts';
import { TryDraft } from './try-draft.tsx';
import { usePolicyCheck } from './use-policy-check.ts';

/** The editor of a policy; without a saved one, of a new policy. */
export function PolicyEditor({ saved, start }: { readonly saved: SavedPolicy | undefined; readonly start: string }) {
  const { search } = usePlace();
  const go = useGo();
  const client = useQueryClient();
  const [text, setText] = useState(start);
  // What the text is compared with: somebody else's save replaces it when a save of ours meets it.
  const [base, setBase] = useState(saved);
  const [name, setName] = useState(saved?.name ?? '');
  const [reviewing, setReviewing] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [conflict, setConflict] = useState(false);
  const [busy, setBusy] = useState(false);
  const [at, setAt] = useState<PlaceInText | undefined>(search.line === undefined ? undefined : { line: Number(search.line) });
  const isRoot = saved?.name === 'root';
  const check = usePolicyCheck(isRoot ? '' : text);
  const paths = useDeclaredPaths(!isRoot);
  const complete = useMemo(() => policyCompletion(paths), [paths]);
  const dirty = text !== (base?.policy ?? start);
  useBlocker({ shouldBlockFn: () => dirty && !busy && !window.confirm('Leave and lose what you changed?'), enableBeforeUnload: dirty });

  const path = apiPath('sys/policies/acl', name);
  const save = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const { warnings } = await send('POST', path, { body: policyWrite(text, base) });
      const read = await send<SavedPolicy>('GET', path);
      setBase(read.data);
      setReviewing(false);
      setConflict(false);
      await makeStale(client, ['sys/policies']);
      client.removeQueries({ queryKey: ['why'] });
      notifications.show({ message: [`Saved ${read.data.name}, version ${read.data.version}.`, ...warnings].join(' ') });
      if (!saved) setTimeout(() => go('/access/policies/$name', { name: read.data.name }), 0);
    } catch (caught) {
      const refused = caught as ApiError;
      setError(refused);
      if (refused.errors.some((sentence) => sentence.startsWith('check-and-set parameter'))) {
        setBase((await send<SavedPolicy>('GET', path)).data);
        setConflict(true);
      }
    } finally {
      setBusy(false);
    }
  };

  return (
    <Page
      title={saved?.name ?? 'New policy'}
      crumbs={[
        <To key="policies" to="/access/policies">
          Policies
        </To>,
      ]}
      beside={dirty && !isRoot ? <StateChip mood="warn">not saved</StateChip> : undefined}
      actions={
        !isRoot && (
          <>
            {saved && saved.name !== 'default' && (
              <ConfirmAction
                label={`Delete ${saved.name}`}
                typed={saved.name}
                needs={{ path: `sys/policies/acl/${saved.name}`, need: 'delete' }}
                act={async () => {
                  await send('DELETE', path);
                  setBase({ ...saved, policy: text });
                  await makeStale(client, ['sys/policies']);
                  setTimeout(() => go('/access/policies'), 0);
                }}
              >
                Tokens that have the policy lose what it allows at once. What it denies is no longer denied.
              </ConfirmAction>
            )}
            <ActionButton
              {...(name === '' ? {} : { needs: { path: `sys/policies/acl/${name}`, need: 'update' as const } })}
              disabled={!dirty && saved !== undefined}
              onClick={() => setReviewing(true)}
            >
              Review and save
            </ActionButton>
          </>
        )
      }
    >
      {isRoot && <Text>The root policy allows everything, and nobody can change it.</Text>}
      {!isRoot && (
        <div className={classes.split}>
          <div>
            {!saved && (
              <TextInput
                label="Name"
                description="Stored in lower case"
                maw={360}
                mb="md"
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
                required
              />
            )}
            <CodeEditor
              label={saved ? `Policy ${saved.name}` : 'Policy'}
              value={text}
              onChange={setText}
              remarks={check?.complaints ?? []}
              complete={complete}
              at={at}
            />
            <Complaints check={check} onPlace={({ line, column }) => setAt({ line, column })} />
          </div>
          <Stack gap="lg">
            <section aria-labelledby="try-draft">
              <Title order={2} size="h4" id="try-draft" mb="xs">
                Try this text
              </Title>
              <TryDraft draft={text} name={saved?.name ?? (name.toLowerCase() || 'draft')} />
            </section>
            {base && (
              <Facts
                facts={[
                  { label: 'Version', value: base.version },
                  { label: 'Changed', value: <When time={base.modified} /> },
                  { label: 'Counts until', value: base.expiration && <When time={base.expiration} /> },
                  { label: 'Version required', value: base.cas_required ? 'every write must name the version it replaces' : undefined },
                ]}
              />
            )}
          </Stack>
        </div>
      )}
      {saved && (
        <div>
          <Title order={2} size="h4" mt="lg" mb="xs">
            Who has it
          </Title>
          <Holders question={{ policy: saved.name }} />
        </div>
      )}
      <CommandLines
        lines={[
          {
            with: 'CLI',
            command: `strongroom policy check ${name || 'app'}.hcl && strongroom policy write ${name || 'app'} ${name || 'app'}.hcl`,
          },
          {
            with: 'curl',
            command: `jq -Rs '{policy: .}' ${name || 'app'}.hcl | curl -X POST -H "X-Vault-Token: $VAULT_TOKEN" -d @- "$VAULT_ADDR/v1/sys/policies/acl/${name || 'app'}"`,
          },
        ]}
      />
      <Dialog title={saved ? `Save ${saved.name}` : 'Save the policy'} opened={reviewing} onClose={() => setReviewing(false)} size="xl">
        <Stack>
          {conflict && base && (
            <Text size="sm" fw={600}>
              {`Somebody else saved version ${base.version} meanwhile. Below is what saving your text would change in it.`}
            </Text>
          )}
          {check && !check.valid && (
            <Text size="sm" fw={600}>
              The server would refuse this text: see the complaints below the editor.
            </Text>
          )}
          <TextDiff before={base?.policy ?? ''} after={text} label="Changes" />
          {error && !conflict && <ServerError error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setReviewing(false)}>
              Go on editing
            </Button>
            <Button onClick={() => void save()} loading={busy} disabled={name.trim() === ''}>
              {conflict ? 'Save over it' : 'Save'}
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </Page>
  );
}
