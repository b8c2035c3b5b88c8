import { Text } from '@mantine/core';
import { useForeign } from '../api/own-routes.ts';
import { useRead } from '../api/queries.ts';
import { To } from '../parts/to.tsx';
import classes from './server-state.module.css';

interface Nodes {
  readonly nodes: readonly { readonly state: 'active' | 'sealed' | 'lost' }[];
}

/** The seal and the servers of the store, in the header. The page is there only while the server that answers is unsealed. */
export function ServerState() {
  const { data } = useRead<Nodes>('sys/nodes', { every: 30_000 });
  const foreign = useForeign();
  const nodes = data?.data.nodes ?? [];
  const trouble = (['sealed', 'lost'] as const).flatMap((state) => {
    const count = nodes.filter((node) => node.state === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  const words = ['unsealed', ...(nodes.length > 1 ? [`${nodes.length} nodes`] : []), ...trouble].join(' · ');
  return (
    <To to={foreign ? '/server/seal' : '/server/nodes'} className={classes.state} data-mood={trouble.length > 0 ? 'bad' : 'good'}>
      <span className={classes.dot} aria-hidden />
      <Text span size="sm">
        {words}
      </Text>
    </To>
  );
}
