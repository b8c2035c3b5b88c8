import type { ApiClient } from './client.ts';
import type { GlobalOptions } from './global-flags.ts';
import type { Output } from './output.ts';
import type { CliIo } from './cli-io.ts';

/** What a command gets to work with. */
export interface Invocation<Values = Readonly<Record<string, unknown>>> {
  /** Positional words, their number already checked. */
  readonly args: readonly string[];
  readonly flags: Values;
  /** Names of the flags that were typed, the global ones included. */
  readonly given: ReadonlySet<string>;
  readonly options: GlobalOptions;
  readonly io: CliIo;
  readonly out: Output;
  readonly sleep: NonNullable<CliIo['sleep']>;
  /** The client; a command declared `local` has none. */
  client(): ApiClient;
  /** Asks for something secret. Throws a Failure made of `missing` when nobody can be asked. */
  ask(question: string, missing: string): Promise<string>;
}
