import { EngineError, StepTrace, untilStepFails, type Clock } from '@strongroom/engine-sdk';
import { isSyncError, type RemoteSecret } from '@strongroom/sync-sdk';
import { Type, type Static } from 'typebox';
import { PluginFault } from './destination-guard.ts';
import type { DestinationRecord } from './records.ts';
import type { OpenDestination, Sessions } from './sessions.ts';

const Step = Type.Object({
  step: Type.String({ description: 'settings, reach, login, write, read back, remove.' }),
  ok: Type.Boolean(),
  milliseconds: Type.Number(),
  error: Type.Optional(Type.String({ description: 'Why it failed.' })),
});
type Step = Static<typeof Step>;

export const DestinationReport = Type.Object({
  ok: Type.Boolean(),
  steps: Type.Array(Step, {
    description: 'In this order. Those after one that failed are missing, except that what was written is removed.',
  }),
  secret_name: Type.Optional(Type.String({ description: 'The name outside that was looked for, and with write=true written.' })),
});
export type DestinationReport = Static<typeof DestinationReport>;

/** What the test writes: nobody's secret. */
const VALUE = 'written by a test of the destination';
/** How long the removal may take where the caller has gone. Milliseconds. */
const REMOVAL = 10_000;

/** How a test is made. */
export interface DestinationTrial {
  readonly sessions: Sessions;
  readonly clock: Clock;
  randomBytes(count: number): Uint8Array;
  readonly signal: AbortSignal;
  /** Whether a secret is written, read back and removed. */
  readonly write: boolean;
}

/** Tries a destination step by step, up to the first step that fails. `settle` gives what is to be tried. @throws what is a fault of ours */
export async function tryDestination(settle: () => Promise<DestinationRecord>, trial: DestinationTrial): Promise<DestinationReport> {
  const { sessions, clock, signal } = trial;
  const steps: Step[] = [];
  const hex = (count: number): string => Buffer.from(trial.randomBytes(count)).toString('hex');
  const trace = new StepTrace<string>(clock, (report) => steps.push(report));
  const reasonFor = (error: unknown): unknown => {
    if (!isExpected(error) || signal.aborted) throw error;
    return error;
  };
  const took = async <T>(step: string, work: () => Promise<T>): Promise<T> => trace.take(step, work, { reasonFor });
  let name: string | undefined;

  const login = async ({ session, plugin }: OpenDestination, connections: () => number, secret: string): Promise<void> => {
    const since = trace.start();
    let found: RemoteSecret | undefined;
    try {
      found = await session.read({ name: secret, signal });
    } catch (error) {
      const reason = reasonFor(error);
      const refused = isSyncError(error, 'address_refused') || (isSyncError(error, 'external_service') && connections() === 0);
      if (!refused) trace.passed('reach', since);
      throw trace.stopped(refused ? 'reach' : 'login', since, {}, reason);
    }
    trace.passed('reach', since);
    trace.passed('login', since);
    // Nobody makes such a name by chance. What is there is not touched.
    if (found) throw new Error(`${secret} is taken in ${plugin.title}`);
  };

  const writeAndRemove = async ({ session, plugin }: OpenDestination, destination: DestinationRecord, secret: string): Promise<void> => {
    const mark = { destination: destination.id, association: hex(12) };
    const request = { name: secret, value: VALUE, mark, tags: destination.custom_tags, operationId: crypto.randomUUID(), signal };
    let current: RemoteSecret | undefined;
    try {
      current = await took('write', async () => session.put(request));
      const written = current;
      current = await took('read back', async () => {
        const found = await session.read({ name: secret, signal });
        if (!found) throw new NotThere(`${plugin.title} does not show the secret ${secret} that it has just taken`);
        if (found.identity !== written.identity || (plugin.ownership === 'marked' && found.mark?.association !== mark.association)) {
          throw new NotThere(`${plugin.title} shows another secret ${secret} than the one that was written`);
        }
        return found;
      });
    } finally {
      // Of a write whose outcome is unknown, it is removed as well, if it is there.
      const still = signal.aborted ? AbortSignal.timeout(REMOVAL) : signal;
      const found = current ?? (await session.read({ name: secret, signal: still }).catch(() => undefined));
      if (found) await took('remove', async () => session.remove({ name: secret, current: found, signal: still }));
    }
  };

  try {
    await untilStepFails(async () => {
      const destination = await took('settings', settle);
      await sessions.apart(destination, async (open, network) => {
        const secret = open.limits.name.normalize(`strongroom-test-${hex(6)}`);
        name = secret;
        await login(open, () => network.connections, secret);
        if (trial.write) await writeAndRemove(open, destination, secret);
      });
    });
  } catch (error) {
    if (!isSyncError(error, 'configuration_invalid')) throw error;
    // The settings show themselves to be wrong where the session is opened: that connects to nothing.
    steps.length = 0;
    trace.stopped('settings', trace.start(), {}, error);
  }
  return { ok: steps.every(({ ok }) => ok), steps, ...(name === undefined ? {} : { secret_name: name }) };
}

/** What was written is not what is there. */
class NotThere extends Error {}

/** What a test is made to find: mistakes in the settings, and failures of the destination or of its plugin. */
function isExpected(error: unknown): boolean {
  return (
    isSyncError(error) || error instanceof PluginFault || error instanceof NotThere || (error instanceof EngineError && error.status < 500)
  );
}
