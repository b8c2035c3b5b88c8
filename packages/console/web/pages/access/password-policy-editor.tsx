import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { makeStale } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { FoundDraft } from '../../parts/found-draft.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { SecretValue } from '../../parts/secret-value.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { useDraft } from '../../parts/use-draft.ts';
import classes from './access.module.css';

/** The editor of a password policy; `name` undefined: of a new one. */
export function PasswordPolicyEditor({ name: saved, start }: { readonly name: string | undefined; readonly start: string }) {
  const go = useGo();
  const client = useQueryClient();
  const { draft, found, change, drop } = useDraft(`password policy ${saved ?? ''}`, { text: start, name: saved ?? '' });
  const { text, name } = draft;
  const [base, setBase] = useState(start);
  const { busy, error, attempt } = useAttempt();
  const [sample, setSample] = useState<string>();
  const dirty = text !== base;
  const path = apiPath('sys/policies/password', name);
  const save = async (): Promise<void> => {
    await send('POST', path, { body: { policy: text } });
    setBase(text);
    drop(draft);
    await makeStale(client, ['sys/policies/password']);
    notifications.show({ message: `Saved ${name}.` });
    if (saved === undefined) go('/access/password-policies/$name', { name });
  };
  const generate = async (): Promise<void> => {
    setSample((await send<{ password: string }>('GET', `${path}/generate`)).data.password);
  };
  return (
    <Page
      title={saved ?? 'New password policy'}
      crumbs={[
        <To key="all" to="/access/password-policies">
          Password policies
        </To>,
      ]}
      beside={dirty ? <StateChip mood="warn">not saved</StateChip> : undefined}
      actions={
        <>
          {saved !== undefined && (
            <ConfirmAction
              label={`Delete ${saved}`}
              typed={saved}
              needs={{ path: `sys/policies/password/${saved}`, need: 'delete' }}
              act={async () => {
                await send('DELETE', path);
                await makeStale(client, ['sys/policies/password']);
                setTimeout(() => go('/access/password-policies'), 0);
              }}
            >
              Engines and roles that name the policy can make no more passwords until they name another one.
            </ConfirmAction>
          )}
          <ActionButton
            {...(name === '' ? {} : { needs: { path: `sys/policies/password/${name}`, need: ['update', 'create'] as const } })}
            disabled={name === '' || (saved !== undefined && !dirty)}
            loading={busy}
            onClick={() => void attempt(save)}
          >
            Save
          </ActionButton>
        </>
      }
    >
      {found && dirty && <FoundDraft drop={() => drop()} />}
      <div className={classes.split}>
        <div>
          {saved === undefined && (
            <TextInput
              label="Name"
              maw={360}
              mb="md"
              value={name}
              onChange={(event) => change({ ...draft, name: event.currentTarget.value })}
              required
            />
          )}
          <CodeEditor
            label={saved === undefined ? 'Password policy' : `Password policy ${saved}`}
            value={text}
            onChange={(next) => change({ ...draft, text: next })}
          />
          {error && <ServerError error={error} />}
        </div>
        {saved !== undefined && (
          <Stack gap="xs">
            <Title order={2} size="h4">
              A sample
            </Title>
            <Text size="sm" c="dimmed">
              The server makes a password by the saved policy, and keeps it nowhere.
            </Text>
            <Group gap="xs">
              <Button size="xs" variant="default" onClick={() => void attempt(generate)}>
                {sample === undefined ? 'Make one' : 'Make another'}
              </Button>
            </Group>
            {sample !== undefined && (
              <>
                <SecretValue key={sample} label="sample" value={sample} />
                <Text size="sm">{`${[...sample].length} characters`}</Text>
              </>
            )}
          </Stack>
        )}
      </div>
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom write sys/policies/password/${name || 'strict'} policy=@${name || 'strict'}.hcl` },
          {
            with: 'curl',
            command: `curl -H "X-Vault-Token: $VAULT_TOKEN" "$VAULT_ADDR/v1/sys/policies/password/${name || 'strict'}/generate"`,
          },
        ]}
      />
    </Page>
  );
}
