import { ServerLog } from './log/server-log.ts';
import type { Configuration } from './config/configuration.ts';
import { readArguments } from './arguments.ts';
import { explained } from './explained.ts';
import { openServer } from './server.ts';
import { settledConfiguration } from './settled-configuration.ts';
import { untilStopped, type Heard, type Orders } from './until-stopped.ts';
import { sharedConfiguration, workerConfiguration } from './workers/worker-configuration.ts';
import type { FromWorker } from './workers/messages.ts';
import { processChannel } from './workers/process-channel.ts';
import { WorkerSiblings } from './workers/worker-siblings.ts';

/** Milliseconds between two signs of life. */
const BEAT = 1_000;
/** With every so many of them, the supervisor hears what was counted. */
const COUNTS = 3;

/** What a worker process does. Resolves with the exit code. */
export async function work(
  [number = '', start = '', configured = '', server = '', ...words]: readonly string[],
  started: () => void,
): Promise<number> {
  const place = { server, number: Number(number), start: Number(start), configured: Number(configured) };
  const siblings = new WorkerSiblings(place, processChannel.send);
  const orders = new WorkerOrders();
  processChannel.hear((message) => {
    if (message.kind === 'stop') orders.stop(message.reason);
    else if (message.kind === 'reload') orders.reload();
    else siblings.hear(message);
  });
  let counts: (() => Promise<Extract<FromWorker, { kind: 'beat' }>>) | undefined;
  let beats = 0;
  const beat = async (): Promise<void> => {
    beats += 1;
    processChannel.send(counts && beats % COUNTS === 0 ? await counts() : { kind: 'beat' });
  };
  setInterval(() => void beat(), BEAT).unref();
  let log: ServerLog | undefined;
  try {
    const read = (): Configuration => settledConfiguration(readArguments(words), process.env);
    let whole = (await sharedConfiguration(siblings)) ?? read();
    siblings.answer('configuration', () => sharedConfiguration.of(whole));
    const configuration = workerConfiguration(whole, place);
    log = new ServerLog({
      ...{ level: configuration.logLevel, format: configuration.logFormat, worker: place.number },
      ...(configuration.logFile === undefined ? {} : { file: configuration.logFile }),
    });
    const running = await openServer({ configuration, log, siblings });
    const { metrics } = running;
    if (metrics) counts = async () => ({ kind: 'beat', counts: await metrics.snapshot() });
    const stopped = untilStopped(running, log, {
      orders,
      configuration: () => {
        const { logLevel } = read();
        whole = { ...whole, logLevel };
        return { ...configuration, logLevel };
      },
    });
    const { core, addresses } = running;
    const state = { sealed: core.sealed, initialized: await core.initialized(), automatic: core.sealStates().length > 0 };
    processChannel.send({ kind: 'listening', listening: { addresses, ...state } });
    started();
    const code = await stopped;
    if (counts) await processChannel.sent(await counts());
    return code;
  } catch (error) {
    await processChannel.sent({ kind: 'failed', reason: explained(error).replace(/^Error: /, '') });
    return 1;
  } finally {
    log?.close();
  }
}

/**
 * What the supervisor orders. A signal of the system means the same, once: a terminal, and a manager of services, send it to the supervisor as well, so that it comes twice.
 */
class WorkerOrders implements Orders {
  #heard: Heard | undefined;
  #stopped: string | undefined;
  #reloads = false;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => this.stop(signal));
    process.on('SIGHUP', () => this.reload());
  }

  listen(heard: Heard): () => void {
    this.#heard = heard;
    if (this.#stopped !== undefined) heard.stop(this.#stopped);
    else if (this.#reloads) heard.reload();
    return () => (this.#heard = undefined);
  }

  stop(reason: string): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = reason;
    this.#heard?.stop(reason);
  }

  reload(): void {
    // What it has read so far may be old by then.
    if (this.#heard) this.#heard.reload();
    else this.#reloads = true;
  }
}
