import { Stack } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import type { Attention } from '../../api/work.ts';
import { FailingThing } from '../../parts/failing-thing.tsx';

/** So many are shown with their tries; the table below has all. */
const MOST = 5;
const MOUNT = 'sys/sync/';

interface FailingCopiesProps {
  readonly type: string;
  readonly name: string;
  readonly stale: readonly string[];
}

/** The copies of a destination that cannot be made: what the provider said, the tries, the circuit breaker, and what to do. */
export function FailingCopies({ type, name, stale }: FailingCopiesProps) {
  const attention = useRead<Attention>('sys/internal/ui/attention', { query: { limit: 100 }, every: 5_000 });
  const things = (attention.data?.data.items ?? []).flatMap((item) => item.things);
  const failing = things.flatMap(({ mount, path, job, name: called }) => {
    const id = /^[^/]+\/sync\/(.+)$/.exec(job ?? '')?.[1];
    return mount === MOUNT && path?.endsWith(`destinations/${type}/${name}/associations`) && id !== undefined ? [{ id, called }] : [];
  });
  if (failing.length === 0) return null;
  return (
    <Stack gap="md" mb="lg">
      {failing.slice(0, MOST).map(({ id, called }) => (
        <section key={id} aria-label={`Copy ${called}`}>
          <h2>{called}</h2>
          <FailingThing mount={MOUNT} kind="sync" id={id} stale={stale} />
        </section>
      ))}
    </Stack>
  );
}
