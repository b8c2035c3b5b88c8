import { findPath, lists, pathsOf } from '../../api/engine-paths.ts';
import { useApiDocument } from '../../api/openapi.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { ListPlace } from './list-place.tsx';
import { ThingPlace } from './thing-place.tsx';

/** One path of a mount of any engine, drawn from its declaration: a list, or a thing with its form and actions. */
export default function PathPage() {
  const { mount = '', rest = '' } = usePlace().params;
  const address = rest.replace(/\/$/, '');
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
          if (!path) return <Empty>This mount has no path {address}, or your token cannot reach it.</Empty>;
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
