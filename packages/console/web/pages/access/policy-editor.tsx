import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
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
import { FoundDraft } from '../../parts/found-draft.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { TextDiff } from '../../parts/text-diff.tsx';
import { To } from '../../parts/to.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { When } from '../../parts/when.tsx';
import classes from './access.module.css';
import { Complaints } from './complaints.tsx';
import { Holders } from './holders.tsx';
import { policyCompletion } from './policy-completion.ts';
import { policyWrite, type SavedPolicy } from './saved-policy.ts';
import { TryDraft } from './try-draft.tsx';
import { usePolicyCheck } from './use-policy-check.ts';

interface Draft {
  readonly text: string;
  readonly name: string;
  readonly base: SavedPolicy | undefined;
}

/** The editor of a policy; without a saved one, of a new policy. */
export function PolicyEditor({ saved, start }: { readonly saved: SavedPolicy | undefined; readonly start: string }) {
  const { search } = usePlace();
  const go = useGo();
  const client = useQueryClient();
  // The base is what the text is compared with: somebody else's save replaces it when a save of ours meets it.
  const begin: Draft = { text: start, name: saved?.name ?? '', base: saved };
  const { draft, found, change, drop } = useDraft(`policy ${saved?.name ?? ''}`, begin);
  const { text, name, base } = draft;
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
  const path = apiPath('sys/policies/acl', name);
  const file = `${name || 'app'}.hcl`;
  /** Reads what somebody else saved meanwhile. What stood there stays the base where that cannot be read. */
  const meet = async (): Promise<void> => {
    try {
      const { data } = await send<SavedPolicy>('GET', path);
      change({ ...draft, base: data });
      setConflict(true);
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  const save = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const { warnings } = await send('POST', path, { body: policyWrite(text, base) });
      const read = await send<SavedPolicy>('GET', path);
      drop({ text: read.data.policy, name: read.data.name, base: read.data });
      setReviewing(false);
      setConflict(false);
      await makeStale(client, ['sys/policies']);
      client.removeQueries({ queryKey: ['why'] });
      notifications.show({ message: [`Saved ${read.data.name}, version ${read.data.version}.`, ...warnings].join(' ') });
      if (!saved) go('/access/policies/$name', { name: read.data.name });
    } catch (caught) {
      const refused = caught as ApiError;
      setError(refused);
      if (refused.errors.some((sentence) => sentence.startsWith('check-and-set parameter'))) await meet();
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
                  drop();
                  await makeStale(client, ['sys/policies']);
                  go('/access/policies');
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
      {found && dirty && <FoundDraft drop={() => drop()} />}
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
                onChange={(event) => change({ ...draft, name: event.currentTarget.value })}
                required
              />
            )}
            <CodeEditor
              label={saved ? `Policy ${saved.name}` : 'Policy'}
              value={text}
              onChange={(next) => change({ ...draft, text: next })}
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
            command: `strongroom policy check ${file} && ${base ? patchBy(base) : `strongroom policy write ${name || 'app'} ${file}`}`,
          },
          { with: 'curl', command: curlOf(name || 'app', file, base) },
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

/** A change of the text alone: the policy keeps its other settings, and somebody else's save is not overwritten. */
function patchBy({ name, version }: SavedPolicy): string {
  return `strongroom patch sys/policies/acl/${name} policy=@${name}.hcl cas=${version}`;
}

function curlOf(name: string, file: string, base: SavedPolicy | undefined): string {
  const [verb, type] = base ? ['PATCH', 'application/merge-patch+json'] : ['POST', 'application/json'];
  const body = `jq -Rs '{policy: ., cas: ${base?.version ?? -1}}' ${file}`;
  return `${body} | curl -X ${verb} -H "X-Vault-Token: $VAULT_TOKEN" -H "Content-Type: ${type}" -d @- "$VAULT_ADDR/v1/sys/policies/acl/${name}"`;
}
