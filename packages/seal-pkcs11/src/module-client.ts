import { Worker } from 'node:worker_threads';
import { runModuleThread, type ThreadCall, type ThreadOrder, type ThreadReply } from './module-thread.ts';

/** A call of the module failed; `name` is the standard's return value, such as `CKR_PIN_INCORRECT`. */
export class ModuleFailure extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

type Call = ThreadCall extends infer One ? (One extends ThreadCall ? Omit<One, 'id'> : never) : never;

interface Question {
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: Error) => void;
}

/** Sends calls to the thread of a module. The thread starts with the first call, and does not keep the process alive. */
export class ModuleClient {
  readonly #order: ThreadOrder;
  readonly #asked = new Map<number, Question>();
  #worker: Worker | undefined;
  #count = 0;

  constructor(order: ThreadOrder) {
    this.#order = order;
  }

  async ask<Result>(call: Call): Promise<Result> {
    const id = (this.#count += 1);
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve: resolve as (result: unknown) => void, reject });
      worker.postMessage({ ...call, id });
    });
  }

  /** Waits for the session to be closed; a module that hangs is left behind. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    await this.ask({ does: 'close' }).catch(() => undefined);
    await worker.terminate();
  }

  #start(): Worker {
    const worker = new Worker(`(${runModuleThread.toString()})(require)`, { eval: true, workerData: this.#order });
    worker.unref();
    worker.on('message', ({ id, result, error }: ThreadReply) => {
      const question = this.#asked.get(id);
      this.#asked.delete(id);
      if (error) question?.reject(new ModuleFailure(error.name, error.message));
      else question?.resolve(result);
    });
    const ended = (reason: Error): void => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#asked.values()) reject(reason);
      this.#asked.clear();
    };
    worker.on('error', ended);
    worker.on('exit', () => ended(new ModuleFailure('', 'the thread of the module ended')));
    return worker;
  }
}
