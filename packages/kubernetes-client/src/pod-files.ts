import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@strongroom/engine-sdk';

/** Where Kubernetes puts the files of a pod's service account. */
export const POD_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
const MINUTE = 60_000;
const HOUR = 3_600_000;

/** The CA of the cluster and the token of this server's own service account, where the server runs in a pod. Kubernetes replaces both files from time to time. */
export class PodFiles {
  readonly folder: string;
  readonly #ca: FileCopy;
  readonly #token: FileCopy;

  constructor(folder: string, clock: Pick<Clock, 'millis'>) {
    this.folder = folder;
    this.#ca = new FileCopy(join(folder, 'ca.crt'), HOUR, clock);
    this.#token = new FileCopy(join(folder, 'token'), MINUTE, clock);
  }

  /** PEM, at most an hour old; undefined where there is none. */
  async ca(): Promise<string | undefined> {
    return this.#ca.text();
  }

  /** At most a minute old; undefined where there is none. */
  async token(): Promise<string | undefined> {
    return (await this.#token.text())?.trim();
  }
}

/** The text of a file, read again after a while. A file that cannot be read keeps the text that it had; one that was never there is looked for once a minute. */
class FileCopy {
  readonly #path: string;
  readonly #age: number;
  readonly #clock: Pick<Clock, 'millis'>;
  #text: Promise<string | undefined> = Promise.resolve(undefined);
  #again = -Infinity;

  constructor(path: string, age: number, clock: Pick<Clock, 'millis'>) {
    this.#path = path;
    this.#age = age;
    this.#clock = clock;
  }

  async text(): Promise<string | undefined> {
    const now = this.#clock.millis();
    if (now >= this.#again) {
      this.#again = now + Math.min(this.#age, MINUTE);
      this.#text = this.#read(this.#text, now);
    }
    return this.#text;
  }

  async #read(before: Promise<string | undefined>, now: number): Promise<string | undefined> {
    try {
      const text = await readFile(this.#path, 'utf8');
      if (text.trim() === '') return await before;
      this.#again = now + this.#age;
      return text;
    } catch {
      return before;
    }
  }
}
