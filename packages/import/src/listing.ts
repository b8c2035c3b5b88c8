import type { Context } from './context.ts';
import { CallRefused } from './failures.ts';
import type { JsonRecord } from './json.ts';
import type { Line, Thing } from './thing.ts';

export type Found = AsyncGenerator<Thing | Line>;

/** The line of what the source does not show this token. @throws whatever else it was */
export function refusedLine(kind: string, path: string, error: unknown): Line {
  if (!(error instanceof CallRefused) || error.role !== 'source') throw error;
  return { kind, path, outcome: 'refused', why: `the source answered ${error.status}${textOf(error)}` };
}

function textOf({ errors }: CallRefused): string {
  const text = errors.join('; ').replace(/\s+/g, ' ').trim();
  return text === '' ? '' : `: ${text}`;
}

/** A read of the source, or the line that says that it was refused. */
export async function readOrLine(context: Context, kind: string, path: string): Promise<JsonRecord | Line | undefined> {
  try {
    return await context.source.read(path);
  } catch (error) {
    return refusedLine(kind, path, error);
  }
}

/** Names of a list of the source; where it is refused, the line that says so. */
export async function listOrLine(context: Context, kind: string, path: string): Promise<string[] | Line> {
  try {
    return await context.source.list(path);
  } catch (error) {
    return refusedLine(kind, path, error);
  }
}

export function isLine(found: unknown): found is Line {
  return typeof found === 'object' && found !== null && 'outcome' in found && 'kind' in found;
}

/** Every name in a tree of lists, depth first, and lines for folders that are refused. `mayTake` says which folders are worth a look. */
export async function* walk(
  context: Context,
  kind: string,
  root: string,
  mayTake: (folder: string) => boolean,
): AsyncGenerator<string | Line> {
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (folder !== '' && !mayTake(folder)) continue;
    const names = await listOrLine(context, kind, root + folder);
    if (isLine(names)) {
      yield names;
      continue;
    }
    const below: string[] = [];
    for (const name of names) {
      if (name === '') continue;
      if (name.endsWith('/')) below.push(folder + name);
      else yield folder + name;
    }
    folders.push(...below.reverse());
  }
}
