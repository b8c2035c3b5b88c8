import { execFile } from 'node:child_process';
import type { Narrator } from './console.ts';
import { command } from './server-process.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the real command and tells it. Values of `secrets` are shown as `***`. */
export class CommandLine {
  readonly #narrator: Narrator;
  readonly #env: Record<string, string>;
  readonly #secrets = new Set<string>();

  constructor(narrator: Narrator, env: Readonly<Record<string, string>>) {
    this.#narrator = narrator;
    this.#env = { ...env };
  }

  set(name: string, value: string): void {
    this.#env[name] = value;
  }

  /** From now on the value is not printed. */
  conceal(value: string): void {
    if (value.length > 3) this.#secrets.add(value);
  }

  /** Runs and expects success. */
  async run(words: readonly string[], options: { quiet?: boolean } = {}): Promise<string> {
    const result = await this.#execute(words, options.quiet === true);
    if (result.code !== 0)
      throw new Error(`strongroom ${this.#shown(words.join(' '))} ended with ${result.code}: ${this.#shown(result.stderr)}`);
    return result.stdout;
  }

  /** Runs and expects to be refused. */
  async refused(words: readonly string[]): Promise<CommandResult> {
    const result = await this.#execute(words, false);
    if (result.code === 0) throw new Error(`strongroom ${this.#shown(words.join(' '))} should have been refused`);
    return result;
  }

  /** The parsed JSON of `-format=json`, which is not printed; the command is shown without it. */
  async json<T>(words: readonly string[], shown: readonly string[] = words): Promise<T> {
    this.#narrator.command(this.#shown(`strongroom ${shown.map(quoted).join(' ')}`));
    const result = await this.#spawn([...words, '-format=json']);
    if (result.code !== 0)
      throw new Error(`strongroom ${this.#shown(words.join(' '))} ended with ${result.code}: ${this.#shown(result.stderr)}`);
    return JSON.parse(result.stdout) as T;
  }

  async #execute(words: readonly string[], quiet: boolean): Promise<CommandResult> {
    this.#narrator.command(this.#shown(`strongroom ${words.map(quoted).join(' ')}`));
    const result = await this.#spawn(words);
    const said = (result.stdout + result.stderr).trim();
    if (!quiet && said !== '') this.#narrator.output(this.#shown(said));
    return result;
  }

  async #spawn(words: readonly string[]): Promise<CommandResult> {
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [command, ...words],
        { env: { ...this.#env, PATH: process.env['PATH'] ?? '', HOME: this.#env['HOME'] ?? '' }, maxBuffer: 64 << 20 },
        (error, stdout, stderr) => resolve({ code: error ? ((error.code as number | undefined) ?? 1) : 0, stdout, stderr }),
      );
    });
  }

  #shown(text: string): string {
    let shown = text;
    for (const secret of this.#secrets) shown = shown.replaceAll(secret, '***');
    return shown;
  }
}

function quoted(word: string): string {
  return /^[\w@%+=:,./{}*-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
