import type { ApiClient } from '../client.ts';
import type { CliIo } from '../cli-io.ts';
import type { Invocation } from '../invocation.ts';
import type { Secret } from '../secret.ts';

/** One `login` with a method: the user's words, and the world around them. */
export interface LoginCall {
  /** Where the method is mounted, below `auth/`, without outer slashes. */
  readonly mount: string;
  /** The key=value words. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Sends no token. */
  readonly client: ApiClient;
  readonly io: CliIo;
  readonly ask: Invocation['ask'];
  readonly sleep: Invocation['sleep'];
}

/** How the command line logs in with one type of auth method. */
export interface LoginMethod {
  /** What `auth help` prints. */
  readonly help: string;
  /** The key=value words that the method knows; undefined where it takes any. */
  readonly fields?: readonly string[];
  /** Answers the login's envelope. Throws a Failure that says what is missing or wrong. */
  login(call: LoginCall): Promise<Secret | undefined>;
}

/** The text of a word; undefined when it is absent or empty. */
export function textOf(data: LoginCall['data'], name: string): string | undefined {
  const value = Object.hasOwn(data, name) ? data[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
