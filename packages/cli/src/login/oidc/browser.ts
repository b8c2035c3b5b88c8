import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

/** The program that opens a web page, and its words before the address. None is a shell, to which an `&` in an address would mean something. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Milliseconds in which a program that cannot open anything says so. */
const PATIENCE = 2_000;

/** Opens an http or https address in the user's browser. Rejects when there is none. */
export async function openBrowser(url: string): Promise<void> {
  const [command, ...words] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...words, url], { stdio: 'ignore', detached: true });
  child.unref();
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${command} exited with code ${code}`))));
  });
  const waiting = new AbortController();
  const patience = delay(PATIENCE, undefined, { signal: waiting.signal }).catch(() => undefined);
  await Promise.race([ended, patience]).finally(() => waiting.abort());
}
