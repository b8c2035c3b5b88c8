import { IconAlertTriangle, IconCircleDot, IconInfoCircle } from '@tabler/icons-react';
import { Text } from '@mantine/core';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import type { AttentionItem, AttentionThing } from '../../api/work.ts';
import { Due } from '../../parts/due.tsx';
import { CircuitWords } from '../../parts/failing-thing.tsx';
import { ResetCircuit } from '../../parts/reset-circuit.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { pageOfThing } from '../../parts/thing-page.ts';
import { To } from '../../parts/to.tsx';
import { TryNow } from '../../parts/try-now.tsx';
import { When } from '../../parts/when.tsx';
import { pageOf, SEVERITY_WORDS, titleOf } from './attention-words.ts';
import classes from './home.module.css';

const SIGNS = { critical: IconAlertTriangle, warning: IconCircleDot, notice: IconInfoCircle } as const;

/** One cause: what, since when, the sentence of whoever failed, and what can be done here. */
export function AttentionRow({ item }: { readonly item: AttentionItem }) {
  const [error, setError] = useState<ApiError>();
  const [done, setDone] = useState<string>();
  const Sign = SIGNS[item.severity];
  const { mount, cause, count, things } = item;
  const ended = (what: string) => (failure: ApiError | undefined) => {
    setError(failure);
    setDone(failure ? undefined : what);
  };
  return (
    <li className={classes.row} data-severity={item.severity}>
      <span className={classes.sign}>
        <Sign size={18} role="img" aria-label={SEVERITY_WORDS[item.severity]} />
      </span>
      <div className={classes.words}>
        <h3>
          {mount !== null && <span className={classes.mount}>{mount} </span>}
          <To {...pageOf(item)}>{titleOf(item)}</To>
        </h3>
        <p className={classes.sentence}>“{item.message}”</p>
        <p className={classes.meta}>
          {item.kind === 'token' && things[0] ? (
            <Since item={item} word={item.severity === 'warning' ? 'made' : 'ends'} />
          ) : (
            <Since item={item} word="began" />
          )}
          {item.attempts > 0 && <> · {item.attempts === 1 ? '1 try' : `${item.attempts} tries`}</>}
          {item.next_attempt && (
            <>
              {' '}
              · next <Due time={item.next_attempt} />
            </>
          )}
          {cause && cause.circuit.state !== 'closed' && (
            <>
              {' '}
              · circuit breaker <CircuitWords circuit={cause.circuit} />
            </>
          )}
        </p>
        {count > 1 && <Things item={item} />}
        {done && (
          <Text role="status" size="sm">
            {done}
          </Text>
        )}
        {error && <ServerError error={error} />}
      </div>
      <div className={classes.actions}>
        {count === 1 && things[0] && (
          <TryNow
            retry={things[0].retry}
            job={things[0].job}
            ended={ended(item.kind === 'lease' ? 'It is queued: this row goes once the lease is revoked.' : 'It succeeded.')}
          />
        )}
        {cause && mount !== null && (count > 1 || cause.circuit.failures > 0) && (
          <ResetCircuit
            mount={mount}
            target={cause.system.target}
            label={cause.circuit.state === 'closed' ? 'Try all now' : 'Reset circuit'}
            ended={ended('All that waits for it is tried now.')}
          />
        )}
      </div>
    </li>
  );
}

function Since({ item, word }: { readonly item: AttentionItem; readonly word: string }) {
  return item.since === null ? null : (
    <>
      {word} <When time={item.since} />
    </>
  );
}

/** What fails for the cause: the first of them, and all of them when asked. */
function Things({ item }: { readonly item: AttentionItem }) {
  const [open, setOpen] = useState(false);
  const whole = useRead<AttentionItem>(apiPath('sys/internal/ui/attention', item.id), { enabled: open });
  const things = whole.data?.data.things ?? item.things;
  return (
    <details className={classes.things} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {item.things.map(({ name }) => name).join(', ')}
        {item.count > item.things.length ? ` and ${item.count - item.things.length} more` : ''}
      </summary>
      <ul>
        {things.map((thing, at) => (
          <li key={`${thing.path} ${thing.name} ${at}`}>
            <Thing item={item} thing={thing} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Thing({ item, thing }: { readonly item: AttentionItem; readonly thing: AttentionThing }) {
  const called = `${thing.noun} ${thing.name}`;
  const linked = item.mount !== null && thing.path !== null && item.kind !== 'lease' && item.kind !== 'journal';
  return (
    <>
      {linked ? <To {...pageOfThing(item.mount!, item.mount_type, thing.path!)}>{called}</To> : called}
      {thing.message !== item.message && <>: “{thing.message}”</>}
    </>
  );
}
