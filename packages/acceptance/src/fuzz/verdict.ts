import type { Trouble } from './recorder.ts';

/** What an outside system that the fuzz made up, or that refuses what the fuzz asks of it, is to blame for. */
const OUTSIDE: readonly { readonly what: string; readonly text: RegExp }[] = [
  { what: 'a host or port where nothing is', text: /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT/ },
];

/** Why a call's 5xx, silence or slowness is an outside system's doing; undefined where it is the server's. */
export function outsideFault({ answer, status }: Pick<Trouble, 'answer' | 'status'>): string | undefined {
  return status === 0 ? undefined : OUTSIDE.find(({ text }) => text.test(answer))?.what;
}

/** Lines of the server's log that tell of a fault of its own. */
export function faultsInLog(log: string): string[] {
  return log
    .split('\n')
    .filter((line) =>
      /internal error|uncaught|unhandled|quarantin|out of use|nobody caught|\bat (?:async )?\S+ \(.*:\d+:\d+\)/i.test(line),
    );
}
