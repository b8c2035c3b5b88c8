import { Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { apiPath } from '../api/api-path.ts';
import { useAct } from '../api/queries.ts';
import { CommandLines } from './command-lines.tsx';
import { ConfirmAction } from './confirm-action.tsx';
import { DeleteThing } from './delete-thing.tsx';
import { FailingThing, type ShownPlan } from './failing-thing.tsx';
import { Facts, type Fact } from './facts.tsx';
import { IssuedCredential } from './issued-credential.tsx';
import { shellWord } from './shell-word.ts';

interface StaticRoleProps {
  readonly mount: string;
  readonly name: string;
  readonly plan: ShownPlan;
  readonly lastGood: string | null;
  /** The button that shows the current credential, and what of the answer is no secret. */
  readonly show: { readonly label: string; readonly plain: readonly string[] };
  readonly facts: readonly (Fact | undefined)[];
  /** Between the state and the credential. */
  readonly picture?: ReactNode;
  /** Below the facts. */
  readonly details?: ReactNode;
  /** What a rotation does now. */
  readonly rotation: ReactNode;
  /** What a deletion loses. */
  readonly loss: ReactNode;
  readonly deleted: () => void;
}

/** A static role of a database or an AWS mount: a user that stays, how its rotation stands, and its credential for whoever asks. */
export function StaticRole({ mount, name, plan, lastGood, show, facts, picture, details, rotation, loss, deleted }: StaticRoleProps) {
  const path = apiPath(mount, 'static-roles', name);
  const rotate = useAct({ method: 'POST', path: apiPath(mount, 'rotate-role', name), stale: [path, 'sys/internal/ui/job'] });
  return (
    <Stack gap="lg">
      <FailingThing
        mount={`${mount}/`}
        kind="rotate-static-role"
        id={name}
        plan={plan}
        lastGood={lastGood}
        pausePath={`${mount}/static-roles/${name}`}
        stale={[path]}
      />
      {picture}
      <IssuedCredential
        again
        label={show.label}
        path={apiPath(mount, 'static-creds', name)}
        needs={{ path: `${mount}/static-creds/${name}`, need: 'read' }}
        plain={show.plain}
      />
      <Facts facts={facts} />
      {details}
      <Group>
        <ConfirmAction
          color="blue"
          label="Rotate now"
          needs={{ path: `${mount}/rotate-role/${name}`, need: 'update' }}
          act={() => rotate.mutateAsync({})}
        >
          {rotation}
        </ConfirmAction>
        <DeleteThing path={`${mount}/static-roles/${name}`} name={name} stale={[apiPath(mount)]} done={deleted}>
          {loss}
        </DeleteThing>
      </Group>
      <CommandLines
        lines={[
          {
            with: 'CLI',
            command: `strongroom read ${shellWord(`${mount}/static-creds/${name}`)}\nstrongroom write -f ${shellWord(`${mount}/rotate-role/${name}`)}`,
          },
          {
            with: 'curl',
            command: `curl -H "X-Vault-Token: $VAULT_TOKEN" -X POST "$VAULT_ADDR/v1/"${shellWord(apiPath(mount, 'rotate-role', name))}`,
          },
        ]}
      />
    </Stack>
  );
}
