import { findPath, lists, pathsOf } from '../../api/engine-paths.ts';
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
  const above = address.split('/').slice(0, -1);
  const crumbs = [
    <To to="/mounts">Mounts</To>,
    <To to="/engine/$mount" params={{ mount }}>
      {mount}/
    </To>,
    ...(above.length > 0
      ? [
          <To to="/engine/$mount/$" params={{ mount, rest: above.join('/') }}>
            {above.join(' / ')}
          </To>,
        ]
      : []),
  ];
  return (
    <Page title={address.slice(address.lastIndexOf('/') + 1)} crumbs={crumbs}>
      <Loaded query={document}>
        {(found) => {
          const paths = pathsOf(found, mount);
          const path = findPath(paths, address);
          if (!path)
            return <Unreached path={`${mount}/${address}`}>This mount has no path {address}, or the token does not reach it.</Unreached>;
          return lists(path) ? (
            <ListPlace mount={mount} address={address} path={path} paths={paths} />
          ) : (
            <ThingPlace key={address} document={found} mount={mount} address={address} path={path} paths={paths} />
          );
        }}
      </Loaded>
    </Page>
  );
}
