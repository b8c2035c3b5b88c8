import type { Trouble } from './recorder.ts';

/** What an outside system that the fuzz made up, or that refuses what the fuzz asks of it, is to blame for. */
const OUTSIDE: readonly { readonly what: string; readonly text: RegExp }[] = [
  { what: 'a host or port where nothing is', text: /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT/ },
  { what: 'a login that the outside system refuses', text: /LDAP Result Code 49 |password authentication failed for user/ },
  // The answer to a login tells nobody more; the fuzz changes the service account's password.
  { what: 'a service account that the directory refuses', text: /ldap operation failed: failed to bind as user/ },
  { what: 'an account that is changed by the run at the same moment', text: /tuple concurrently updated/ },
  {
    what: 'statements of the run that change no password',
    text: /the change was acknowledged, but the old credential is still the one that is taken/,
  },
  { what: 'an account that is not in the directory, or may not do this', text: /LDAP Result Code (?:32|50) / },
];

/** Why a call's 5xx, silence or slowness is an outside system's doing; undefined where it is the server's. */
export function outsideFault({ answer, status }: Pick<Trouble, 'answer' | 'status'>): string | undefined {
  return status === 0 ? undefined : OUTSIDE.find(({ text }) => text.test(answer))?.what;
}

const FAULT = /internal error|uncaught|unhandled|quarantin|nobody caught|\bat (?:async )?\S+ \(.*:\d+:\d+\)/i;
const MOST_FAULTS = 200;

/** Lines of the server's log that report a fault of its own, as they come. */
export class LogFaults {
  readonly lines: string[] = [];
  #begun = '';

  heard(text: string): void {
    const lines = (this.#begun + text).split('\n');
    this.#begun = lines.pop()!;
    for (const line of lines) if (FAULT.test(line) && this.lines.length < MOST_FAULTS) this.lines.push(line);
  }
}
