import { Button, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useRead } from '../../api/queries.ts';
import type { Attention } from '../../api/work.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { When } from '../../parts/when.tsx';
import { AttentionRow } from './attention-row.tsx';
import classes from './home.module.css';

const PAGE = 25;
/** Milliseconds between two looks while the page is seen. */
const EVERY = 10_000;

/** What needs a person, by harm. */
export function AttentionList() {
  const [limit, setLimit] = useState(PAGE);
  const attention = useRead<Attention>('sys/internal/ui/attention', { query: { limit }, every: EVERY });
  return (
    <section aria-labelledby="attention">
      <Loaded query={attention}>
        {({ data: { items, total, complete } }) => (
          <>
            <div className={classes.head}>
              <h2 id="attention" aria-live="polite">
                {total === 0 ? 'Nothing needs a person' : total === 1 ? '1 thing needs a person' : `${total} things need a person`}
              </h2>
              <span className={classes.age}>
                updated <When time={attention.dataUpdatedAt} />
              </span>
            </div>
            {items.length === 0 ? (
              <p className={classes.quiet}>
                <IconCircleCheck size={20} aria-hidden />
                All that this token may see works.
              </p>
            ) : (
              <ol className={classes.rows}>
                {items.map((item) => (
                  <AttentionRow key={item.id} item={item} />
                ))}
              </ol>
            )}
            {items.length < total && (
              <Button variant="default" size="xs" mb="md" onClick={() => setLimit(limit + PAGE)}>
                Show {Math.min(PAGE, total - items.length)} more of {total}
              </Button>
            )}
            {!complete && (
              <Text size="sm" c="dimmed" mb="md">
                More fails than is read at once: numbers are the least there are.
              </Text>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
