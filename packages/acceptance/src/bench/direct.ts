import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROBE } from './bench-server.ts';
import type { DirectFigures, DirectRun } from './direct-main.ts';
import type { Figures } from './load.ts';
import { Meter, usageEach } from './meter.ts';
import { residentMib } from './process-usage.ts';
import type { WorkloadName } from './workloads.ts';

/** A core that is called without HTTP, in a process of its own over a store of its own. */
export class DirectCore {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #meter: Meter;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    this.#meter = new Meter(child, folder);
  }

  static async start(): Promise<DirectCore> {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-bench-direct-'));
    const main = fileURLToPath(new URL('./direct-main.js', import.meta.url));
    const child = spawn(process.execPath, ['--import', PROBE, main, folder], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    await once(child, 'message');
    return new DirectCore(child, folder);
  }

  async run(name: WorkloadName, seconds: number): Promise<Figures> {
    await this.#order({ name, seconds: Math.min(1, seconds) });
    const before = await this.#meter.read();
    const figures = await this.#order({ name, seconds });
    const each = usageEach(before, await this.#meter.read(), figures.operations);
    return { name, ...figures, ...each, residentMib: residentMib(this.#child.pid!) };
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #order(run: DirectRun): Promise<DirectFigures> {
    const answer = once(this.#child, 'message');
    this.#child.send(run);
    return ((await answer) as [DirectFigures])[0];
  }
}
