import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Answers `[password, hash]` with whether they match. */
const SCRIPT = `
const { parentPort, workerData } = require('node:worker_threads');
const bcrypt = require(workerData);
parentPort.on('message', ([password, hash]) => parentPort.postMessage(bcrypt.compareSync(password, hash)));
`;

interface Question {
  readonly resolve: (matches: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

/** Runs bcrypt, which is JavaScript and takes up to half a second, in a thread of its own. The thread starts with the first question, and ends with the process. */
export class BcryptThread {
  #worker: Worker | undefined;
  /** In the order in which the thread answers. */
  #asked: Question[] = [];

  async compare(password: string, hash: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      this.#asked.push({ resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage([password, hash]);
    });
  }

  #start(): Worker {
    const worker = new Worker(SCRIPT, { eval: true, workerData: createRequire(import.meta.url).resolve('bcryptjs') });
    worker.on('message', (matches: boolean) => {
      this.#asked.shift()?.resolve(matches);
      // An idle thread does not keep the process alive.
      if (this.#asked.length === 0) worker.unref();
    });
    const ended = (reason: unknown): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const question of this.#asked.splice(0)) question.reject(reason);
    };
    worker.on('error', ended);
    worker.on('exit', () => ended(new Error('the bcrypt thread ended')));
    return worker;
  }
}
