import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../api/api-error.ts';
import { apiPath } from '../api/api-path.ts';
import { useAct, useRead } from '../api/queries.ts';
import { WORK_PATHS, type Circuit, type JobDetails } from '../api/work.ts';
import { ActionButton } from './action-button.tsx';
import { adviceFor } from './advice.ts';
import { CopyButton } from './copy-button.tsx';
import { Due } from './due.tsx';
import { duration } from './durations.ts';
import classes from './failing-thing.module.css';
import { ResetCircuit } from './reset-circuit.tsx';
import { ServerError } from './server-error.tsx';
import { StateChip } from './state-chip.tsx';
import { pageOfThing } from './thing-page.ts';
import { To } from './to.tsx';
import { TriesTimeline } from './tries-timeline.tsx';
import { TryNow } from './try-now.tsx';
import { When } from './when.tsx';

/** When a credential is rotated, as the read of a role answers it. */
export interface ShownPlan {
  readonly rotation_schedule?: string;
  /** Seconds. */
  readonly rotation_period?: number;
  /** Seconds. */
  readonly rotation_window?: number;
  readonly disable_automated_rotation?: boolean;
}

interface FailingThingProps {
  /** The path of the mount. */
  readonly mount: string;
  /** The kind of its job: `rotate-static-role`, `rotate-root`, `rotate-library-account`, `sync`. */
  readonly kind: string;
  /** The id of its job: for roles and connections their name; `ldap` for the root credential of a directory, `root` for that of a cloud account. */
  readonly id: string;
  readonly plan?: ShownPlan | undefined;
  /** The last success, where the thing knows it better than its job. */
  readonly lastGood?: string | null | undefined;
  /** The path of the role, whose automatic rotation *Pause* stops; as people write it. */
  readonly pausePath?: string | undefined;
  /** Paths whose reads change with a try: that of the role. */
  readonly stale?: readonly string[];
}

/**
 * How the rotation or sync of one thing stands, and what to do about it: the server's sentence, the tries, the plan, the outside system with its circuit breaker, the
 * likely cause. Nothing is drawn where no work is planned, and where the token may not see it.
 */
export function FailingThing({ mount, kind, id, plan, lastGood, pausePath, stale = [] }: FailingThingProps) {
  const job = useRead<JobDetails>('sys/internal/ui/job', { query: { mount, kind, id }, every: 5_000 });
  const [error, setError] = useState<ApiError>();
  const [done, setDone] = useState<string>();
  const ended = (what: string) => (failure: ApiError | undefined) => {
    setError(failure);
    setDone(failure ? undefined : what);
  };
  const seen = job.isError ? undefined : job.data?.data;
  const paused = plan?.disable_automated_rotation === true;
  const actions = (
    <Group gap="xs">
      {seen && <TryNow retry={seen.retry} job={seen.job} stale={stale} ended={ended('It succeeded.')} />}
      {pausePath !== undefined && (
        <Pause path={pausePath} paused={paused} stale={stale} ended={ended(paused ? 'It goes on.' : 'It is paused.')} />
      )}
      {seen?.system && seen.circuit && seen.circuit.failures > 0 && (
        <ResetCircuit mount={mount} target={seen.system.target} stale={stale} ended={ended('The circuit breaker is closed.')} />
      )}
    </Group>
  );
  if (!seen && pausePath === undefined) {
    return job.error instanceof ApiError && job.error.status !== 404 ? (
      <ServerError error={job.error} again={() => void job.refetch()} />
    ) : null;
  }
  const failing = seen !== undefined && seen.failing_since !== null;
  const good = lastGood ?? seen?.last_success ?? undefined;
  return (
    <section className={classes.box} data-mood={failing ? 'bad' : 'good'} aria-label="How it stands">
      <div className={classes.head}>
        <Chip job={seen} paused={paused} />
        {failing && (
          <span>
            began <When time={seen.failing_since} /> · {triesSince(seen)}
          </span>
        )}
        {seen && (
          <span>
            next <Due time={seen.next_attempt} />
          </span>
        )}
      </div>
      {failing && seen.last_error && (
        <div className={classes.sentence}>
          <span>“{seen.last_error.message}”</span>
          <CopyButton icon value={ticket(seen)} label="Copy for a ticket" />
        </div>
      )}
      {seen && <TriesTimeline tries={seen.tries} />}
      <dl className={classes.facts}>
        <Told label="last good">{good && <When time={good} />}</Told>
        <Told label="schedule">{plan?.rotation_schedule}</Told>
        <Told label="period">{plan?.rotation_period ? duration(plan.rotation_period) : undefined}</Told>
        <Told label="window">{plan?.rotation_window ? duration(plan.rotation_window) : undefined}</Told>
        <Told label="asks">
          {seen?.system &&
            (seen.system.path === undefined ? (
              seen.system.name
            ) : (
              <To {...pageOfThing(seen.mount, seen.mount_type, seen.system.path)}>{seen.system.name}</To>
            ))}
        </Told>
        <Told label="circuit breaker">{seen?.circuit && <CircuitWords circuit={seen.circuit} />}</Told>
      </dl>
      <div className={classes.advice}>
        {failing && seen.last_error && <WhatToDo job={seen} message={seen.last_error.message} />}
        {actions}
        {done && (
          <Text role="status" size="sm" mt="xs">
            {done}
          </Text>
        )}
      </div>
      {error && <ServerError error={error} />}
    </section>
  );
}

function Chip({ job, paused }: { readonly job: JobDetails | undefined; readonly paused: boolean }) {
  if (job && job.failing_since !== null) return <StateChip mood="bad">failing</StateChip>;
  if (paused) return <StateChip mood="warn">paused</StateChip>;
  if (job?.state === 'running') return <StateChip mood="wait">running</StateChip>;
  return job ? <StateChip mood="good">in order</StateChip> : <StateChip mood="wait">nothing is due</StateChip>;
}

function Told({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  if (children === undefined || children === null || children === '' || children === false) return null;
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A circuit breaker in words. */
export function CircuitWords({ circuit }: { readonly circuit: Circuit }) {
  const failures = `${circuit.failures} failure${circuit.failures === 1 ? '' : 's'} in a row`;
  if (circuit.state === 'open')
    return (
      <>
        open after {failures}, next try {circuit.next_try && <Due time={circuit.next_try} />}
      </>
    );
  if (circuit.state === 'half-open') return <>open after {failures}; the next call is the trial</>;
  return <>closed{circuit.failures > 0 ? `, ${failures}` : ''}</>;
}

function WhatToDo({ job, message }: { readonly job: JobDetails; readonly message: string }) {
  const { text } = adviceFor(message);
  const { system } = job;
  return (
    <p>
      <strong>What to do:</strong> {text}{' '}
      {system?.path !== undefined && <To {...pageOfThing(job.mount, job.mount_type, system.path)}>Open {system.name}</To>}
    </p>
  );
}

interface PauseProps {
  readonly path: string;
  readonly paused: boolean;
  readonly stale: readonly string[];
  readonly ended: (error: ApiError | undefined) => void;
}

function Pause({ path, paused, stale, ended }: PauseProps) {
  const act = useAct({ method: 'POST', path: apiPath(path), stale: [...WORK_PATHS, apiPath(path), ...stale] });
  const change = (): void =>
    act.mutate({ disable_automated_rotation: !paused }, { onSuccess: () => ended(undefined), onError: (error) => ended(error) });
  return (
    <ActionButton variant="default" needs={{ path, need: ['update', 'create'] }} loading={act.isPending} onClick={change}>
      {paused ? 'Go on' : 'Pause'}
    </ActionButton>
  );
}

/** Tries of requests count as well, which the server's own number leaves out. */
function triesSince({ attempts, tries, failing_since }: JobDetails): string {
  const seen = tries.filter(({ at, message }) => message !== undefined && at >= (failing_since ?? '')).length;
  const count = Math.max(attempts, seen);
  return count === 1 ? '1 failed try' : `${count} failed tries`;
}

function ticket({ mount, noun, name, id, last_error, attempts, failing_since }: JobDetails): string {
  return [
    `${mount} ${noun ?? ''} ${name ?? id}`,
    `failing since ${failing_since ?? ''}, ${attempts} tries`,
    last_error?.message ?? '',
  ].join('\n');
}
