import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import type { Try } from '../api/work.ts';
import { took } from './durations.ts';
import classes from './tries-timeline.module.css';
import { When } from './when.tsx';

interface TriesTimelineProps {
  /** The oldest first. */
  readonly tries: readonly Try[];
}

/** Tries one after the other; the chosen one is described in words below. Arrow keys go along the line. */
export function TriesTimeline({ tries }: TriesTimelineProps) {
  const [chosen, setChosen] = useState<string>();
  const line = useRef<HTMLDivElement>(null);
  if (tries.length === 0) return null;
  const at = Math.max(0, chosen === undefined ? tries.length - 1 : tries.findIndex((one) => one.at === chosen));
  const current = tries[at]!;
  const choose = (index: number): void => {
    const bounded = Math.min(tries.length - 1, Math.max(0, index));
    setChosen(tries[bounded]!.at);
    line.current?.querySelectorAll('button')[bounded]?.focus();
  };
  const keyed = (event: React.KeyboardEvent): void => {
    const moves: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tries.length - 1 };
    const to = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
  };
  return (
    <div>
      <div ref={line} role="radiogroup" className={classes.line} aria-label="Tries, the oldest first" onKeyDown={keyed}>
        {tries.map((one, index) => (
          <button
            key={`${one.at} ${index}`}
            type="button"
            role="radio"
            className={classes.dot}
            data-good={one.message === undefined}
            aria-checked={index === at}
            aria-label={`${one.message === undefined ? 'Succeeded' : 'Failed'} ${new Date(one.at).toISOString().slice(0, 19).replace('T', ' ')} UTC, took ${took(one.took_ms)}`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => choose(index)}
          >
            {one.message === undefined ? <IconCircleCheck size={18} aria-hidden /> : <IconCircleX size={18} aria-hidden />}
          </button>
        ))}
      </div>
      <div className={classes.said}>
        <p aria-live="polite">{current.message ?? 'It succeeded.'}</p>
        <p className={classes.facts}>
          try {at + 1} of {tries.length} shown · <When time={current.at} /> · took {took(current.took_ms)}
        </p>
      </div>
    </div>
  );
}
