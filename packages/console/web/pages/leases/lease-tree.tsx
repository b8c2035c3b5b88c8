import { Group, Text } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { To } from '../../parts/to.tsx';
import classes from './lease-tree.module.css';

interface Level {
  readonly folders: readonly { readonly name: string; readonly leases: number; readonly more: boolean }[];
  readonly leases_here: number;
  readonly next?: string;
}

/** Where leases come from: the way to the prefix, and the paths below it with their numbers. */
export function LeaseTree({ prefix, span }: { readonly prefix: string; readonly span: string | undefined }) {
  const level = useRead<Level>('sys/leases/tree', { query: { prefix: prefix === '' ? undefined : prefix, limit: 200 } });
  const parts = prefix === '' ? [] : prefix.split('/');
  return (
    <section aria-label="Leases by path" className={classes.tree}>
      <nav aria-label="Prefix" className={classes.way}>
        <To to="/leases" search={{ span }} aria-current={prefix === '' ? 'true' : undefined}>
          All leases
        </To>
        {parts.map((part, index) => (
          <span key={index}>
            {' / '}
            <To
              to="/leases"
              search={{ prefix: parts.slice(0, index + 1).join('/'), span }}
              aria-current={index === parts.length - 1 ? 'true' : undefined}
            >
              {part}
            </To>
          </span>
        ))}
      </nav>
      <Loaded query={level}>
        {({ data }) =>
          data.folders.length > 0 && (
            <ul className={classes.folders}>
              {data.folders.map(({ name, leases, more }) => (
                <li key={name}>
                  <To to="/leases" search={{ prefix: `${prefix === '' ? '' : `${prefix}/`}${name.slice(0, -1)}`, span }}>
                    <Group justify="space-between" wrap="nowrap" gap="xs">
                      <span>{name}</span>
                      <Text span size="xs" c="dimmed" className={classes.count}>
                        {more ? `more than ${leases.toLocaleString('en')}` : leases.toLocaleString('en')}
                      </Text>
                    </Group>
                  </To>
                </li>
              ))}
              {data.next !== undefined && <li className={classes.rest}>and more paths than are shown here</li>}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
