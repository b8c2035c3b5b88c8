import { connect, type Socket } from 'node:net';
import type { Answer, Batch, Outcome } from './batch.ts';
import { framed, FrameReader } from './frames.ts';

interface Asked {
  /** Of the batch; 0 stands for the greeting. */
  readonly number: number;
  readonly resolve: (outcome: Outcome | undefined) => void;
}

/** A connection to the process that writes for others. */
export class WriterConnection {
  readonly #socket: Socket;
  readonly #millis: number;
  readonly #frames = new FrameReader();
  /** What waits for an answer: few at a time, and a map would keep for long what has left it. */
  #asked: Asked[] = [];
  /** Whether the writer did not answer in time, or not as a writer does. */
  givenUp = false;

  private constructor(path: string, millis: number, onLost: () => void) {
    this.#millis = millis;
    // It keeps no process alive: what waits for an answer has a timer.
    this.#socket = connect(path).unref();
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      for (const { resolve } of this.#asked.splice(0)) resolve(undefined);
      onLost();
    });
    this.#socket.on('data', (piece) => {
      try {
        for (const { number, outcome } of this.#frames.read(piece) as Answer[])
          this.#asked.find((asked) => asked.number === number)?.resolve(outcome);
      } catch {
        // No answer: who listens there is no driver.
        this.#giveUp();
      }
    });
  }

  /**
   * Resolves once the writer has greeted: a process that is stopped still accepts connections. `millis` is how long it may take to answer. Undefined where none does.
   * `onLost`: called when the connection has ended, whether or not it was open.
   */
  static async open(path: string, millis: number, onLost: (connection: WriterConnection) => void): Promise<WriterConnection | undefined> {
    const connection: WriterConnection = new WriterConnection(path, millis, () => onLost(connection));
    return (await connection.#answer(0)) === undefined ? undefined : connection;
  }

  /** What the writer says, or undefined when the connection is lost, or the writer does not answer in time. Then the connection is closed. */
  async ask(batch: Batch): Promise<Outcome | undefined> {
    const outcome = this.#answer(batch.number);
    this.#socket.write(framed(batch));
    return outcome;
  }

  close(): void {
    this.#socket.destroy();
  }

  #giveUp(): void {
    this.givenUp = true;
    this.close();
  }

  async #answer(number: number): Promise<Outcome | undefined> {
    if (this.#socket.destroyed) return undefined;
    const timer = setTimeout(() => this.#giveUp(), this.#millis);
    try {
      return await new Promise((resolve) => this.#asked.push({ number, resolve }));
    } finally {
      this.#asked = this.#asked.filter((asked) => asked.number !== number);
      clearTimeout(timer);
    }
  }
}
