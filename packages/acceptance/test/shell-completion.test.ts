import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RunningServer } from '@strongroom/server';
import { command } from '../src/server-process.ts';
import { startMemoryServer } from './memory-server.ts';

/** For each shell: a program that completes each of its arguments as a line, and prints what it offers between lines of dashes. */
const SHELLS = {
  bash: `source <(strongroom completion bash)
for line in "$@"; do COMP_LINE=$line COMP_POINT=\${#line}; _strongroom; [ \${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "\${COMPREPLY[@]}"; echo ---; done`,
  zsh: `compdef() { : }
_files() { print FILES }
compadd() { local -a opts; zparseopts -D -E S:=opts; shift; (( $# )) && print -l -- $@ }
source <(strongroom completion zsh)
for line in "$@"; do words=("\${(@s: :)line}"); CURRENT=$#words; _strongroom; print -- ---; done`,
  fish: `strongroom completion fish | source
for line in $argv; complete -C $line | string split -f1 \\t; echo ---; end`,
};
type Shell = keyof typeof SHELLS;

let folder: string;
let env: NodeJS.ProcessEnv;
let server: RunningServer;

beforeAll(async () => {
  const started = await startMemoryServer();
  const { address } = started;
  server = started.server;
  const put = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(`${address}/v1/${path}`, {
      method: 'PUT',
      headers: { 'X-Vault-Token': 'root' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  };
  await put('sys/mounts/team-kv', { type: 'kv', options: { version: '2' } });
  await put('team-kv/data/app/db', { data: { a: '1' } });
  await put('team-kv/data/app/$(touch%20pwned)', { data: { a: '1' } });
  await put('sys/policies/acl/readers', { policy: 'path "team-kv/*" { capabilities = ["read"] }' });
  folder = await mkdtemp(join(tmpdir(), 'shells-'));
  await writeFile(join(folder, 'strongroom'), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`);
  await chmod(join(folder, 'strongroom'), 0o755);
  const { NODE_OPTIONS: _, ...others } = process.env;
  env = { ...others, HOME: folder, PATH: `${folder}:${process.env['PATH']}`, STRONGROOM_ADDR: address, STRONGROOM_TOKEN: 'root' };
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** What a shell offers for each unfinished line. */
async function offered(shell: Shell, lines: readonly string[]): Promise<string[][]> {
  const words =
    shell === 'bash'
      ? ['-c', SHELLS[shell], 'bash']
      : shell === 'zsh'
        ? ['-fc', SHELLS[shell], 'zsh']
        : ['--no-config', '-c', SHELLS[shell]];
  return new Promise((resolve, reject) => {
    execFile(shell, [...words, ...lines], { env, cwd: folder }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${shell}: ${stderr || error.message}`));
      else
        resolve(
          stdout
            .split('---\n')
            .slice(0, -1)
            .map((part) => part.split('\n').filter(Boolean)),
        );
    });
  });
}

describe.each(Object.keys(SHELLS) as Shell[])('completion in %s', (shell) => {
  const installed = spawnSync(shell, ['--version']).status === 0;
  const run = installed ? test : test.skip;

  run(`offers commands, flags and their values, paths and names${installed ? '' : ` (skipped: ${shell} is not installed)`}`, async () => {
    const lines = [
      'strongroom stat',
      'strongroom kv metadata p',
      'strongroom read -forma',
      'strongroom read -format=j',
      'strongroom login -method=kub',
      'strongroom read team',
      'strongroom read team-kv/da',
      'strongroom read team-kv/data/app/d',
      'strongroom kv get -mount=team-kv app/d',
      'strongroom policy read re',
      'strongroom completion z',
      'strongroom read nothing/',
    ];
    const found = await offered(shell, lines);
    const value = shell === 'bash' ? '' : '-format=';
    expect(found.slice(0, 11)).toEqual([
      ['status'],
      expect.arrayContaining(['put', 'patch']),
      ['-format'],
      [`${value}json`],
      [shell === 'bash' ? 'kubernetes' : '-method=kubernetes'],
      ['team-kv/'],
      ['team-kv/data/'],
      ['team-kv/data/app/db'],
      ['app/db'],
      ['readers'],
      ['zsh'],
    ]);
  });

  run(`types no name of a secret that the shell would run${installed ? '' : ` (skipped: ${shell} is not installed)`}`, async () => {
    const [names] = await offered(shell, ['strongroom kv get team-kv/app/']);
    expect(names).toHaveLength(2);
    if (shell === 'bash') expect(names).toContain(String.raw`team-kv/app/\$\(touch\ pwned\)`);
    expect(spawnSync('ls', [folder], { encoding: 'utf8' }).stdout).not.toContain('pwned');
  });
});
