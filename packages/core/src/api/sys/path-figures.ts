import { BadRequest, f, path, type AnyPath, type Clock } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { LENGTH, SERIES_NAMES, STEP, type Plot } from '../../services/figures/history.ts';
import type { Figures } from '../../services/figures/figures.ts';

/** Steps that an answer has by default at most. */
const FEW = 360;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const Values = Type.Array(Type.Union([Type.Number(), Type.Null()]));
const Answer = Type.Object({
  node: Type.String({ description: 'The server that answers: each one shows its own figures.' }),
  start: Type.String({ description: 'The beginning of the first step.' }),
  end: Type.String({ description: 'The time of the answer.' }),
  step: Type.Number({ description: 'Seconds.' }),
  series: Type.Object(Object.fromEntries([...SERIES_NAMES, 'latency_p50_seconds', 'latency_p95_seconds'].map((name) => [name, Values])), {
    description: 'A value for each step, null where nothing is known. What is counted is counted in that step.',
  }),
});

/** `sys/internal/ui/metrics`: the figures of this server over the last day. */
export function figurePaths({
  figures,
  clock,
  node,
}: {
  readonly figures: Figures;
  readonly clock: Clock;
  readonly node: string;
}): AnyPath[] {
  return [
    path('internal/ui/metrics', {
      synopsis: 'Figures of this server over the last day.',
      description:
        'In memory, every ten seconds while the server is unsealed: requests by status, their median and 95th percentile, leases, rotations, sync runs, logins, open circuit breakers, due work, the longest delay of the event loop, and memory. Totals only: no names.',
      fields: {
        since: f.time('The beginning; an hour ago by default, and a day ago at the earliest.'),
        step: f.duration('The length of a step: a multiple of ten seconds. By default one that makes at most 360 steps.'),
      },
    }).read({
      summary: 'Shows figures over time.',
      response: Answer,
      handle: async ({ data }) => {
        const now = clock.millis();
        const since = Math.max(data.since?.getTime() ?? now - HOUR, now - DAY);
        if (since > now) throw new BadRequest('since: the time is in the future');
        const plot = figures.sampler.history.plot({ since, now, step: stepOf(data.step, now - since) });
        return { data: { node, ...shown(plot, now) } };
      },
    }),
  ];
}

/** Seconds. `span`: milliseconds. @throws BadRequest */
function stepOf(asked: number | undefined, span: number): number {
  if (asked === undefined) return STEP * Math.max(1, Math.ceil(span / 1_000 / STEP / FEW));
  if (asked <= 0 || asked % STEP !== 0 || asked > STEP * LENGTH)
    throw new BadRequest(`step: must be a multiple of ${STEP} seconds, and at most a day`);
  return asked;
}

function shown({ start, step, series }: Plot, now: number): Omit<Static<typeof Answer>, 'node'> {
  const values = Object.fromEntries(Object.entries(series).map(([name, steps]) => [name, [...steps]]));
  return { start: new Date(start).toISOString(), end: new Date(now).toISOString(), step, series: values };
}
