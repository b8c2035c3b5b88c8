import { Text } from '@mantine/core';
import { IconCircleCheck, IconCircleDashed, IconCircleX } from '@tabler/icons-react';
import classes from './ladder.module.css';

/** One stage of a test, as the server took it. */
export interface Rung {
  readonly step: string;
  readonly ok: boolean;
  readonly milliseconds: number;
  readonly error?: string;
  /** What the outside system means by its refusal. */
  readonly reason?: string;
  readonly [fact: string]: unknown;
}

interface LadderProps {
  readonly label: string;
  readonly rungs: readonly Rung[];
  /** All stages in order; those that were not reached are drawn as such. */
  readonly stages?: readonly string[];
}

const OWN = new Set(['step', 'ok', 'milliseconds', 'error', 'reason', 'fault']);

/** The stages of a test with their times and facts. The first that failed explains; those after it were not reached. */
export function Ladder({ label, rungs, stages = [] }: LadderProps) {
  const reached = new Set(rungs.map(({ step }) => step));
  const failed = rungs.some(({ ok }) => !ok);
  const missing = failed
    ? stages.slice(Math.max(...rungs.map(({ step }) => stages.indexOf(step))) + 1).filter((stage) => !reached.has(stage))
    : [];
  return (
    <ol className={classes.ladder} aria-label={label}>
      {rungs.map((rung, at) => (
        <li key={`${rung.step}-${at}`} className={classes.rung} data-state={rung.ok ? 'good' : 'bad'}>
          {rung.ok ? <IconCircleCheck size={18} aria-hidden /> : <IconCircleX size={18} aria-hidden />}
          <div className={classes.body}>
            <div className={classes.head}>
              <Text span fw={600} size="sm">
                {rung.step}
              </Text>
              <Text span size="xs" c="dimmed">
                {rung.ok ? 'passed' : 'failed'} · {rung.milliseconds} ms
              </Text>
            </div>
            {rung.error !== undefined && (
              <Text size="sm" className={classes.error}>
                {rung.error}
              </Text>
            )}
            {rung.reason !== undefined && <Text size="sm">{String(rung.reason)}</Text>}
            <Detail rung={rung} />
          </div>
        </li>
      ))}
      {missing.map((stage) => (
        <li key={stage} className={classes.rung} data-state="missing">
          <IconCircleDashed size={18} aria-hidden />
          <Text span size="sm" c="dimmed">
            {stage} · not reached
          </Text>
        </li>
      ))}
    </ol>
  );
}

function Detail({ rung }: { readonly rung: Rung }) {
  const facts = Object.entries(rung).filter(([name, value]) => !OWN.has(name) && value !== undefined && value !== '');
  if (facts.length === 0) return null;
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
