// Runs a command and says what it took: `node packages/acceptance/scripts/measure.mjs npm test`.
// Memory is the most that the command and all processes below it held at one time, as proportional set size: a page that several processes
// share counts once. CPU is user and system time of all of them. With `--pid 123` it watches a running process instead. Linux alone.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';

const EVERY_MS = 1_000;
const words = process.argv.slice(2);
const began = Date.now();

/** What the command line of each process below `root` was, with its memory in MiB and its CPU seconds. */
function tree(root) {
  const parents = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = read(`/proc/${name}/stat`);
    if (stat) parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const below = (pid) => pid === root || (parents.has(pid) && below(parents.get(pid)));
  return [...parents.keys()].filter(below).map((pid) => ({
    pid,
    mebibytes: Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024,
    command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 100),
  }));
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
}

/** User and system time of a process and of those of its children that it has waited for, in seconds. */
function cpuSeconds(pid) {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

const watched = words[0] === '--pid' ? Number(words[1]) : undefined;
const child = watched ? undefined : spawn(words[0], words.slice(1), { stdio: 'inherit' });
const root = watched ?? child.pid;
let peak = { mebibytes: 0, at: 0, processes: [] };
let cpu = 0;

function sample() {
  cpu = Math.max(cpu, cpuSeconds(root));
  const processes = tree(root);
  const mebibytes = processes.reduce((sum, one) => sum + one.mebibytes, 0);
  if (mebibytes > peak.mebibytes) peak = { mebibytes, at: (Date.now() - began) / 1000, processes };
  if (processes.length === 0) report(0);
}

function report(code) {
  clearInterval(timer);
  if (child) cpu = cpuSeconds(process.pid);
  console.log(
    `\nmeasured: ${Math.round((Date.now() - began) / 1000)} s, at most ${Math.round(peak.mebibytes)} MiB, after ${Math.round(peak.at)} s:`,
  );
  for (const one of peak.processes.sort((a, b) => b.mebibytes - a.mebibytes).slice(0, 6))
    console.log(`  ${String(Math.round(one.mebibytes)).padStart(5)} MiB  ${one.command}`);
  console.log(`  CPU ${Math.round(cpu)} s`);
  process.exit(code);
}

const timer = setInterval(sample, EVERY_MS);
child?.on('exit', (code) => report(code ?? 1));
