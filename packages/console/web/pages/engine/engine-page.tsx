import { Title } from '@mantine/core';
import { capturesOf, issues, itemOf, lists, pathsOf, relatedTo, type EnginePath } from '../../api/engine-paths.ts';
import { useApiDocument } from '../../api/openapi.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { Unreached } from '../../parts/unreached.tsx';
import { templateToUrl } from '../api/template-in-urls.ts';

/** What a mount of any engine offers, from its declarations: its lists, its settings and what can be done. */
export default function EnginePage() {
  const { mount = '' } = usePlace().params;
  const document = useApiDocument();
  return (
    <Page title={`${mount}/`} crumbs={[<To to="/mounts">Mounts</To>]}>
      <Loaded query={document}>
        {(found) => {
          const paths = pathsOf(found, mount);
          if (paths.length === 0)
            return <Unreached path={`${mount}/`}>There is no mount at {mount}/, or the token reaches nothing in it.</Unreached>;
          return <Overview mount={mount} paths={paths} />;
        }}
      </Loaded>
    </Page>
  );
}

function Overview({ mount, paths }: { readonly mount: string; readonly paths: readonly EnginePath[] }) {
  const plain = paths.filter(({ template }) => capturesOf(template).length === 0 && template !== '');
  const listed = plain.filter(lists);
  const settings = plain.filter((path) => !lists(path) && path.item.get !== undefined && !issues(path));
  const actions = plain.filter((path) => !listed.includes(path) && !settings.includes(path));
  const covered = new Set(
    listed.flatMap(({ template }) => {
      const item = itemOf(paths, template);
      return item ? [item, ...relatedTo(paths, item)] : [];
    }),
  );
  const others = paths.filter((path) => capturesOf(path.template).length > 0 && !covered.has(path));
  return (
    <>
      <Section title="Lists" mount={mount} paths={listed} />
      <Section title="Settings and states" mount={mount} paths={settings} />
      <Section title="Actions" mount={mount} paths={actions} />
      {others.length > 0 && (
        <DataTable
          label="Paths that take a name"
          rows={others}
          id={({ template }) => template}
          columns={[
            {
              title: 'Path',
              main: true,
              cell: ({ template }) => (
                <To to="/api/$" params={{ rest: templateToUrl(`${mount}/${template}`) }}>
                  {template}
                </To>
              ),
            },
            { title: 'What it is', cell: ({ item }) => item.description },
          ]}
        />
      )}
    </>
  );
}

function Section({ title, mount, paths }: { readonly title: string; readonly mount: string; readonly paths: readonly EnginePath[] }) {
  if (paths.length === 0) return null;
  return (
    <section>
      <Title order={2} size="h4" mt="md">
        {title}
      </Title>
      <DataTable
        label={title}
        labelHidden
        rows={paths}
        id={({ template }) => template}
        columns={[
          {
            title: 'Path',
            main: true,
            cell: ({ template }) => (
              <To to="/engine/$mount/$" params={{ mount, rest: template }}>
                {template}
              </To>
            ),
          },
          { title: 'What it is', cell: ({ item }) => item.description },
        ]}
      />
    </section>
  );
}
