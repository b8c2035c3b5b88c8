import { useRead } from '../../api/queries.ts';
import { useRight } from '../../api/rights.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { Section } from './section.tsx';

interface ConfiguredSeal {
  readonly type: string;
  readonly name?: string;
  readonly priority?: number;
  readonly disabled: boolean;
  /** Undefined before the first check, and for shares. */
  readonly healthy?: boolean;
}

const CONFIG = 'sys/config/state/sanitized';

/** The seals of the configuration, in the order in which they are asked, and how each is. Nothing where the token may not read the configuration. */
export function SealsList() {
  const may = useRight({ path: CONFIG, need: 'read', sudo: true });
  const config = useRead<{ readonly seals?: readonly ConfiguredSeal[] }>(CONFIG, { enabled: may === 'yes', every: 30_000 });
  if (may !== 'yes') return null;
  return (
    <Loaded query={config}>
      {({ data: { seals = [] } }) => {
        if (seals.every(({ type }) => type === 'shamir')) return null;
        const ordered = [...seals].sort((a, b) => Number(a.disabled) - Number(b.disabled) || (a.priority ?? 1) - (b.priority ?? 1));
        return (
          <Section title="Seals, in the order in which they are asked">
            <DataTable
              label="Seals of the configuration"
              labelHidden
              rows={ordered}
              id={({ type, name }) => `${type} ${name ?? ''}`}
              columns={[
                { title: 'Name', main: true, cell: ({ type, name }) => name ?? type },
                { title: 'Type', cell: ({ type }) => type },
                { title: 'Priority', cell: ({ priority }) => priority ?? '' },
                { title: 'State', cell: (seal) => <SealChip seal={seal} /> },
              ]}
            />
          </Section>
        );
      }}
    </Loaded>
  );
}

function SealChip({ seal: { disabled, healthy, type } }: { readonly seal: ConfiguredSeal }) {
  if (disabled) return <StateChip mood="wait">disabled: only migrated from</StateChip>;
  if (type === 'shamir') return <StateChip mood="good">in use</StateChip>;
  if (healthy === undefined) return <StateChip mood="wait">not checked yet</StateChip>;
  return healthy ? <StateChip mood="good">works</StateChip> : <StateChip mood="bad">fails</StateChip>;
}
