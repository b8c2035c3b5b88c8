import { Stack, Title } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, queryClient } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DataTable } from '../../parts/data-table.tsx';

/** A rule: every secret of a folder, or of a mount, as secrets come and go. */
export interface Rule {
  readonly mount: string;
  /** `*`, or a folder and `/*`. */
  readonly secret_name: string;
  readonly exclude: readonly string[];
  readonly max_secrets: number;
  readonly made_by: string;
  readonly linked?: number;
  readonly denied?: number;
  readonly beyond_max?: number;
  readonly removing?: boolean;
}

/** The rules of a destination; nothing where there are none. */
export function RulesTable({
  type,
  name,
  rules,
  stale,
}: {
  readonly type: string;
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly stale: readonly string[];
}) {
  if (rules.length === 0) return null;
  const place = `sys/sync/destinations/${type}/${name}/associations/remove`;
  return (
    <Stack gap="xs" mb="md">
      <Title order={2} size="h4">
        Rules
      </Title>
      <DataTable
        label="Rules"
        labelHidden
        rows={rules}
        id={({ mount, secret_name }) => `${mount}/${secret_name}`}
        empty={null}
        columns={[
          { title: 'Secrets', main: true, cell: ({ mount, secret_name }) => `${mount}/${secret_name}` },
          { title: 'Left out', cell: ({ exclude }) => (exclude.length === 0 ? '–' : exclude.map((one) => <div key={one}>{one}</div>)) },
          { title: 'Linked', cell: (rule) => linkedWords(rule) },
          { title: 'Rights of', cell: ({ made_by }) => made_by },
          {
            title: 'Action',
            end: true,
            cell: ({ mount, secret_name, removing }) =>
              removing === true ? (
                'being removed'
              ) : (
                <ConfirmAction
                  label={`Remove the rule ${secret_name}`}
                  needs={{ path: place, need: ['update', 'create'] }}
                  act={async () => {
                    await send('POST', apiPath('sys', 'sync', 'destinations', type, name, 'associations', 'remove'), {
                      body: { mount, secret_name },
                    });
                    await makeStale(queryClient, [...stale]);
                  }}
                >
                  Copies that only this rule has brought are removed outside. Programs that read them there lose them. The secrets
                  themselves stay.
                </ConfirmAction>
              ),
          },
        ]}
      />
    </Stack>
  );
}

/** As of the last look at the whole folder. */
function linkedWords({ linked, denied = 0, beyond_max = 0, max_secrets }: Rule): string {
  if (linked === undefined) return 'not looked at yet';
  const parts = [
    String(linked),
    ...(denied > 0 ? [`${denied} may not be read`] : []),
    ...(beyond_max > 0 ? [`${beyond_max} exceed the limit of ${max_secrets}`] : []),
  ];
  return parts.join(' · ');
}
