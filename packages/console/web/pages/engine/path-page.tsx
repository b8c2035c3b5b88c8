import { findPath, listOf, lists, pathsOf, type EnginePath } from '../../api/engine-paths.ts';
import { useApiDocument } from '../../api/openapi.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { Unreached } from '../../parts/unreached.tsx';
import EnginePage from './engine-page.tsx';
import { ListPlace } from './list-place.tsx';
import { ThingPlace } from './thing-place.tsx';

/** One path of a mount of any engine; the mount itself where the address names none. */
export default function PathPage() {
  const { mount = '', rest = '' } = usePlace().params;
  const address = rest.replace(/\/$/, '');
  return address === '' ? <EnginePage /> : <DeclaredPath mount={mount} address={address} />;
}

/** Drawn from the declaration of the path: a list, or a thing with its form and actions. */
function DeclaredPath({ mount, address }: { readonly mount: string; readonly address: string }) {
  const document = useApiDocument();
  const paths = (document.data && pathsOf(document.data, mount)) ?? [];
  const above = aboveOf(paths, address);
  const crumbs = [
    <To to="/mounts">Mounts</To>,
    <To to="/engine/$mount" params={{ mount }}>
      {mount}/
    </To>,
    ...above.map((rest, at) => (
      <To to="/engine/$mount/$" params={{ mount, rest }}>
        {below(above[at - 1], rest)}
      </To>
    )),
  ];
  return (
    <Page title={below(above.at(-1), address)} crumbs={crumbs}>
      <Loaded query={document}>
        {(found) => {
          const paths = pathsOf(found, mount);
          const path = findPath(paths, address);
          if (!path)
            return <Unreached path={`${mount}/${address}`}>This mount has no path {address}, or the token does not reach it.</Unreached>;
          return lists(path) ? (
            <ListPlace document={found} mount={mount} address={address} path={path} paths={paths} />
          ) : (
            <ThingPlace key={address} document={found} mount={mount} address={address} path={path} paths={paths} />
          );
        }}
      </Loaded>
    </Page>
  );
}

/** What stands above a path: the paths of which it is a part, or the list and the thing that it does something with. */
function aboveOf(paths: readonly EnginePath[], address: string): string[] {
  const parent = address.slice(0, Math.max(address.lastIndexOf('/'), 0));
  if (parent !== '' && findPath(paths, parent)) return [...aboveOf(paths, parent), parent];
  const path = findPath(paths, address);
  const list = path && listOf(paths, path);
  return list ? [list.template, `${list.template}/${Object.values(path.captures)[0]!}`] : [];
}

/** What an address has behind the one above it. */
function below(above: string | undefined, address: string): string {
  return above !== undefined && address.startsWith(`${above}/`) ? address.slice(above.length + 1) : address;
}
