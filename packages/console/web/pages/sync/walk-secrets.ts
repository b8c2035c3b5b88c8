import { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';

/** Secrets that a walk brings home at most; and folders that it opens. */
const MOST = 500;
const FOLDERS = 200;

/** A glob over paths: `*` within a folder, `**` across folders. */
export function globOf(text: string): RegExp {
  const pattern = text
    .split(/(\*\*\/?|\*)/)
    .map((part) => (part === '*' ? '[^/]*' : part.startsWith('**') ? '.*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')))
    .join('');
  return new RegExp(`^${pattern}$`);
}

/** The folder above the first star, from which a walk begins. */
export function baseOf(glob: string): string {
  const head = glob.split('*')[0]!;
  return head.slice(0, head.lastIndexOf('/') + 1);
}

/** Secrets below a mount that fit a glob, and whether there may be more. Folders that the token may not list are left out. */
export async function walkSecrets(
  mount: string,
  glob: string,
  signal: AbortSignal,
): Promise<{ readonly names: string[]; readonly more: boolean }> {
  const wanted = globOf(glob);
  const names: string[] = [];
  const folders = [baseOf(glob)];
  let opened = 0;
  while (folders.length > 0 && opened < FOLDERS && names.length < MOST) {
    const folder = folders.shift()!;
    opened += 1;
    for (const key of await listed(mount, folder, signal)) {
      if (key.endsWith('/')) folders.push(folder + key);
      else if (wanted.test(folder + key)) names.push(folder + key);
    }
  }
  return { names: names.slice(0, MOST), more: folders.length > 0 || names.length > MOST };
}

async function listed(mount: string, folder: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return (await send<{ keys: string[] }>('LIST', apiPath(mount, 'metadata', folder), { signal })).data.keys;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return [];
    throw error;
  }
}
