import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Siblings } from '../../kernel/siblings.ts';
import type { CircuitBreakers } from '../../kernel/work/circuit-breaker.ts';
import type { OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import { mountAsked, OutsideSystem, systemData } from './work-data.ts';

export interface CircuitPathDeps {
  readonly outside: OutsideSystems;
  readonly mounts: MountTable;
  /** Closes the circuit breaker, and makes due now what waits for the outside system. */
  retryOutside(mount: string, target: string): Promise<void>;
  readonly siblings: Siblings;
}

const Circuit = Type.Object({
  mount: Type.String({ description: 'The path of the mount, or its uuid where it is gone.' }),
  target: Type.String(),
  system: OutsideSystem,
  state: Type.Union([Type.Literal('closed'), Type.Literal('open'), Type.Literal('half-open')]),
  failures: Type.Integer({ description: 'Failures in a row.' }),
  since: Type.Union([Type.String(), Type.Null()]),
  next_try: Type.Union([Type.String(), Type.Null()]),
});

type Failing = ReturnType<CircuitBreakers['failing']>[number];

/** Of each outside system, the circuit breaker that lets calls through last. */
function worstOf(all: readonly Failing[]): Failing[] {
  const nextTry = ({ status }: Failing): number => status.nextTry?.getTime() ?? 0;
  const ordered = [...all].sort((a, b) => nextTry(a) - nextTry(b) || a.status.failures - b.status.failures);
  const worst = new Map(ordered.map((one) => [one.target, one]));
  return [...worst.values()].sort((a, b) => (a.target < b.target ? -1 : 1));
}

/** `sys/circuits`: the circuit breakers of the outside systems of all engines. */
export function circuitPaths({ outside, mounts, retryOutside, siblings }: CircuitPathDeps): AnyPath[] {
  const own = (): Failing[] => outside.breakers.failing();
  siblings.answer('circuits', own);
  siblings.answer<[mount: string, target: string]>('circuits/reset', async ([mount, target]) => retryOutside(mount, target));
  return [
    path('circuits', {
      synopsis: 'The circuit breakers of outside systems that fail.',
      description:
        'Of all engines, as the server that answers sees them: each server has its own. Of those of its workers, the one that stays open longest is shown. One with failures may still be closed. What never failed, or succeeded since, is not listed.',
      access: 'sudo',
      fields: { mount: f.string('Only those of this mount path.') },
    }).read({
      summary: 'Shows circuit breakers with failures.',
      response: Type.Object({ circuits: Type.Array(Circuit) }),
      handle: async ({ data }) => {
        const asked = mountAsked(mounts, data.mount);
        const circuits = worstOf([...own(), ...(await siblings.ask<Failing[]>('circuits')).flat()]).flatMap(({ target: key, status }) => {
          const slash = key.indexOf('/');
          const [uuid, target] = [key.slice(0, slash), key.slice(slash + 1)];
          const mount = mounts.byUuid(uuid);
          if (asked === 'none' || (asked && asked !== mount)) return [];
          return {
            mount: mount?.path ?? uuid,
            target,
            system: systemData(mount, target),
            state: status.state,
            failures: status.failures,
            since: status.since?.toISOString() ?? null,
            next_try: status.nextTry?.toISOString() ?? null,
          };
        });
        return { data: { circuits } };
      },
    }),
    path('circuits/reset', {
      synopsis: 'Closes a circuit breaker.',
      description:
        'Revocations, rollbacks and jobs that wait for the outside system become due now, on all servers. The circuit breakers of other servers close with their next try.',
      access: 'sudo',
      fields: {
        mount: f.string('The path of the mount.', { required: true }),
        target: f.string('As `sys/circuits` shows it.', { required: true }),
      },
    }).update({
      summary: 'Closes a circuit breaker and tries again what waits for it.',
      response: NoContent,
      handle: async ({ data }) => {
        const mount = mountAsked(mounts, data.mount);
        if (!mount || mount === 'none') throw new BadRequest(`mount: nothing is mounted at ${JSON.stringify(data.mount)}`);
        await retryOutside(mount.uuid, data.target);
        await siblings.ask('circuits/reset', [mount.uuid, data.target]);
        return undefined;
      },
    }),
  ];
}
