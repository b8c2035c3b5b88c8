import { Stack, Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useAct } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { duration } from '../../parts/durations.ts';
import { Facts } from '../../parts/facts.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { When } from '../../parts/when.tsx';
import { Statements } from './statements.tsx';

interface Previewed {
  readonly username: string;
  readonly expiration: string;
  readonly lease_duration: number;
  readonly statements: readonly string[];
}

interface PreviewProps {
  readonly mount: string;
  readonly name: string;
  /** Fields that count in place of the stored ones. */
  readonly draft?: Readonly<Record<string, unknown>>;
}

/** What issuing would do, for a made-up user: nothing is executed, stored or connected to. */
export function Preview({ mount, name, draft = {} }: PreviewProps) {
  const preview = useAct<Previewed>({ method: 'POST', path: apiPath(mount, 'roles', name === '' ? 'new' : name, 'preview') });
  const found = preview.data?.data;
  return (
    <section aria-label="Preview">
      <Stack gap="sm" align="flex-start">
        <ActionButton
          variant="default"
          needs={{ path: `${mount}/roles/${name === '' ? 'new' : name}/preview`, need: 'update' }}
          loading={preview.isPending}
          onClick={() => preview.mutate(draft)}
        >
          Preview
        </ActionButton>
        <Text size="xs" c="dimmed">
          Shows the statements for a made-up user. Nothing is executed.
        </Text>
        {preview.error && <ServerError error={preview.error} />}
      </Stack>
      {found && !preview.error && (
        <Stack gap="sm" mt="sm">
          <Facts
            facts={[
              { label: 'User', value: found.username },
              { label: 'Lease', value: duration(found.lease_duration) },
              { label: 'Ends in the database', value: <When time={found.expiration} /> },
            ]}
          />
          <Statements label="What would run" statements={found.statements} />
        </Stack>
      )}
    </section>
  );
}
