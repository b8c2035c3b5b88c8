import { readFile } from 'node:fs/promises';

/** The processes that one has started from its main thread, and that run. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

/** The workers of a server. */
export async function workersOf(pid: number): Promise<readonly number[]> {
  return running('worker-main', pid);
}

/** The process that writes for the workers of a server, where it runs. */
export async function writersOf(pid: number): Promise<readonly number[]> {
  return running('writer-main', pid);
}

async function running(program: string, parent: number): Promise<readonly number[]> {
  const children = await childrenOf(parent);
  const words = await Promise.all(children.map(async (child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')));
  return children.filter((_, at) => words[at]!.includes(program));
}
