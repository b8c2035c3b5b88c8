import { Badge, Group, Text } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { wholePath, type Kind, type Mounted } from './mounts.ts';

/** All mounts that the token can reach, and the way to more of them. */
export default function MountsPage() {
  const mounts = useRead<Readonly<Record<Kind, Readonly<Record<string, Mounted>>>>>('sys/internal/ui/mounts');
  const go = useGo();
  return (
    <Page
      title="Mounts"
      actions={
        <>
          <ActionButton needs={{ path: 'sys/mounts/new', need: 'update' }} onClick={() => go('/mounts/enable/$kind', { kind: 'secret' })}>
            Enable a secrets engine
          </ActionButton>
          <ActionButton
            variant="default"
            needs={{ path: 'sys/auth/new', need: 'update', sudo: true }}
            onClick={() => go('/mounts/enable/$kind', { kind: 'auth' })}
          >
            Enable a login method
          </ActionButton>
        </>
      }
    >
      <Loaded query={mounts}>
        {({ data }) => (
          <>
            <MountTable label="Secrets engines" kind="secret" mounts={data.secret} />
            <MountTable label="Login methods" kind="auth" mounts={data.auth} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function MountTable({
  label,
  kind,
  mounts,
}: {
  readonly label: string;
  readonly kind: Kind;
  readonly mounts: Readonly<Record<string, Mounted>>;
}) {
  return (
    <DataTable
      label={label}
      rows={Object.entries(mounts)}
      id={([path]) => path}
      columns={[
        {
          title: 'Path',
          main: true,
          cell: ([path]) => (
            <To to="/engine/$mount" params={{ mount: wholePath(kind, path) }}>
              {path}
            </To>
          ),
        },
        {
          title: 'Type',
          cell: ([, { type, options, quarantine, removing }]) => (
            <Group gap={6}>
              {type}
              {options?.version !== undefined && <Text span size="xs" c="dimmed">{`version ${options.version}`}</Text>}
              {quarantine !== undefined && (
                <Badge color="red" variant="light">
                  quarantined
                </Badge>
              )}
              {removing && (
                <Badge color="yellow" variant="light">
                  being removed
                </Badge>
              )}
            </Group>
          ),
        },
        { title: 'Description', cell: ([, { description }]) => <Text size="sm">{description}</Text> },
        {
          title: 'Runs',
          cell: ([, mount]) => (
            <Text size="xs" c="dimmed">
              {mount.running_plugin_version?.replace('+builtin.strongroom', '')}
            </Text>
          ),
        },
        {
          title: 'Settings',
          end: true,
          cell: ([path]) => (
            <To to="/mounts/$kind/$mount" params={{ kind, mount: path.replace(/\/$/, '') }} aria-label={`Settings of ${path}`}>
              Settings
            </To>
          ),
        },
      ]}
    />
  );
}
