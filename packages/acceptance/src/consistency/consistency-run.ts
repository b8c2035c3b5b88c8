import type { Cluster } from './cluster.ts';
import { FaultLog } from './fault-log.ts';
import type { Fault } from './faults.ts';
import { History } from './history.ts';
import type { Scenario } from './scenario.ts';

export interface RunOptions {
  /** Longer where a fault has not struck by then: at most twice as long. */
  readonly seconds: number;
  readonly clients?: number;
  readonly faults?: readonly Fault[];
  /** Seconds between the end of one fault and the next. */
  readonly every?: number;
  readonly random?: () => number;
  /** Called as each fault begins. */
  readonly onFault?: (name: string) => void;
}

export interface ConsistencyReport {
  /** Everything that clients asked and learned. */
  readonly history: History;
  /** What struck meanwhile. */
  readonly faults: FaultLog;
}

/** Milliseconds between two calls of a client, at most: the load is to meet the faults, not to fill the machine. */
const PAUSE = 10;

/** Lets clients work through all nodes of a cluster at once, while things go wrong, each fault in turn. */
export async function consistencyRun(cluster: Cluster, scenarios: readonly Scenario[], options: RunOptions): Promise<ConsistencyReport> {
  const { seconds, clients = 12, faults = [], every = 2, random = Math.random, onFault } = options;
  const { nodes, rootToken } = cluster;
  for (const scenario of scenarios) await scenario.prepare?.(nodes[0]!.client, rootToken);
  const history = new History();
  const struck = new FaultLog();
  const began = performance.now();
  const missing = (): boolean => faults.some(({ name }) => !struck.names.has(name));
  const running = (): boolean => performance.now() < began + seconds * (missing() ? 2_000 : 1_000);
  const work = async (client: number): Promise<void> => {
    while (running()) {
      const scenario = scenarios[Math.floor(random() * scenarios.length)]!;
      const node = nodes[Math.floor(random() * nodes.length)]!.client;
      await scenario.step({ client, node, history, rootToken, random });
      await sleep(random() * PAUSE);
    }
  };
  const goWrong = async (): Promise<void> => {
    for (let next = 0; faults.length > 0; next += 1) {
      await sleep(every * 1_000);
      if (!running()) return;
      const fault = faults[next % faults.length]!;
      onFault?.(fault.name);
      const at = performance.now();
      if (await fault.happen(random)) struck.struck(fault.name, at);
    }
  };
  await Promise.all([...Array.from({ length: clients }, async (_, client) => work(client)), goWrong()]);
  return { history, faults: struck };
}

async function sleep(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}
