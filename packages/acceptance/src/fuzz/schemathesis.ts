import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const own = fileURLToPath(new URL('../../../../.strongroom/python', import.meta.url));

/** A Python that has schemathesis; undefined when there is none. */
export function findSchemathesis(): string | undefined {
  const named = process.env['STRONGROOM_PYTHON'];
  return [named, join(own, 'bin', 'python')].find(
    (python) =>
      python !== undefined && existsSync(python) && spawnSync(python, ['-c', 'import schemathesis'], { stdio: 'ignore' }).status === 0,
  );
}

/** What of each answer is compared with the document. Whose fault a 5xx is, the recorder tells. */
const CHECKS = ['status_code_conformance', 'content_type_conformance', 'response_schema_conformance'];

export interface SchemathesisRun {
  readonly python: string;
  /** File with the OpenAPI document. */
  readonly document: string;
  /** With `/v1`. */
  readonly url: string;
  /** Undefined for a caller without one. */
  readonly token: string | undefined;
  readonly seconds: number;
  readonly seed: number;
  /** The folder it runs in. */
  readonly cwd: string;
}

/** Runs schemathesis to its end or for a number of seconds; resolves with what it printed. */
export function runSchemathesis({ python, document, url, token, seconds, seed, cwd }: SchemathesisRun): Promise<string> {
  const words = [
    ...['-c', 'from schemathesis.cli import schemathesis; schemathesis()', 'run', document],
    ...['--url', url, ...(token === undefined ? [] : ['-H', `X-Vault-Token: ${token}`]), '--checks', CHECKS.join(','), '--mode', 'all'],
    // Parts end by themselves where little is left to try, so each has its share of the time, and the last takes up what is left.
    ...['--workers', '2', '--max-time', String(seconds), '--seed', String(seed), '--request-timeout', '100', '--no-shrink'],
    ...['--continue-on-failure', '--suppress-health-check', 'all', '--generation-database', 'none', '--warnings', 'off', '--no-color'],
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(python, words, { cwd, env: { ...process.env, PYTHONUNBUFFERED: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    const keep = (chunk: string): void => {
      printed = (printed + chunk).slice(-2_000_000);
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    const killed = (): void => void child.kill('SIGKILL');
    process.once('exit', killed);
    // It looks at its budget between calls; a little more than that is given.
    const late = setTimeout(() => child.kill('SIGINT'), (seconds + 15) * 1_000);
    const tooLate = setTimeout(killed, (seconds + 45) * 1_000);
    child.once('error', reject).once('exit', () => {
      process.removeListener('exit', killed);
      clearTimeout(late);
      clearTimeout(tooLate);
      resolve(printed);
    });
  });
}

/** What schemathesis says about answers that the document does not have, an operation each. */
export function mismatchesIn(printed: string): string[] {
  const [, found = ''] = printed.split(/^=+ FAILURES =+$/m);
  const [failures = ''] = found.split(/^=+ SUMMARY =+$/m);
  return failures
    .split(/^_{3,} (?=\S)/m)
    .slice(1)
    .map((text) => text.slice(0, 3_000).trim());
}
