import type { Readable, Writable } from 'node:stream';
import type { Environment } from './environment.ts';

/** What commands need of the server package. `runServer`: its own flags in, an exit code or nothing out. */
export interface ServerModule {
  runServer(argv: readonly string[]): Promise<number | undefined | void>;
  /** Copies one store into another, as the files say. Rejects with a text for the operator. */
  runMigration?(order: { config: readonly string[]; reset: boolean; say: (text: string) => void }): Promise<void>;
  diagnose(paths: readonly string[], options: { readonly env: Environment }): Promise<readonly ServerFinding[]>;
}

/** What one check of a server before its start found. */
export interface ServerFinding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failure' | 'skipped';
  readonly message: string;
  readonly advice?: string;
}

/** The world around one run of the command; tests pass their own. */
export interface CliIo {
  readonly env: Environment;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether a person can be asked. Colours and the newline after a raw field go by each output's own `isTTY`. */
  readonly isTty: boolean;
  /** Waits between retries and polls; rejects when the signal is aborted. Default: a real timer. */
  readonly sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Calls `end` at Ctrl-C, until the function that it returns is called. Default: the signal SIGINT of this process. */
  readonly onInterrupt?: (end: () => void) => () => void;
  /** Opens a web page for the user. Default: the program of the desktop. */
  readonly openBrowser?: (url: string) => Promise<void>;
  /** Brings the server package. Default: imports `@strongroom/server`, which no other command pays for. */
  readonly loadServer?: () => Promise<ServerModule>;
}
