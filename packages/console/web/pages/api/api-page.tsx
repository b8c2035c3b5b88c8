import { TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useApiDocument, type ApiDocument, type Verb } from '../../api/openapi.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { To } from '../../parts/to.tsx';
import { templateToUrl } from './template-in-urls.ts';

const VERBS: readonly Verb[] = ['get', 'post', 'patch', 'delete'];
const MOST = 200;

/** Every path of the API that the token can reach. */
export default function ApiPage() {
  const document = useApiDocument();
  return (
    <Page title="API">
      <Loaded query={document}>{(found) => <Paths document={found} />}</Loaded>
    </Page>
  );
}

function Paths({ document }: { readonly document: ApiDocument }) {
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const all = useMemo(() => Object.entries(document.paths).filter(([path]) => !/\{part2\}/.test(path)), [document]);
  const found = all.filter(([path, { description }]) => wanted === '' || `${path} ${description}`.toLowerCase().includes(wanted));
  return (
    <>
      <TextInput
        label="Filter"
        description="A part of a path, or of what it does."
        maw="28rem"
        mb="sm"
        value={filter}
        onChange={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      <p role="status">
        {found.length} of {all.length} paths{found.length > MOST ? `; the first ${MOST} are shown` : ''}
      </p>
      <DataTable
        label="Paths"
        labelHidden
        rows={found.slice(0, MOST)}
        id={([path]) => path}
        columns={[
          {
            title: 'Path',
            main: true,
            cell: ([path]) => (
              <To to="/api/$" params={{ rest: templateToUrl(path.slice(1)) }}>
                {path.slice(1)}
              </To>
            ),
          },
          {
            title: 'Calls',
            cell: ([, item]) =>
              VERBS.filter((verb) => item[verb])
                .join(' ')
                .toUpperCase(),
          },
          { title: 'What it is', cell: ([, { description }]) => description },
        ]}
      />
    </>
  );
}
