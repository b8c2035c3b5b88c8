import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { npm } from './npm.ts';
import type { Registry } from './registry.ts';

/** An empty folder that takes our packages from the private registry, and all others from where npm takes them otherwise. */
export async function emptyFolder(folder: string, registry: Registry): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, '.npmrc'), `@strongroom:registry=${registry.url}\n`);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'somebody', private: true, type: 'module' }));
}

export async function install(folder: string, packages: readonly string[]): Promise<void> {
  await npm(['install', '--no-package-lock', '--prefer-offline', ...packages], folder);
}

/** Bytes of all files below a folder, as the disk holds them: in whole blocks. */
export async function sizeOf(folder: string): Promise<number> {
  let size = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const { blocks } = await lstat(join(entry.parentPath, entry.name));
    size += blocks * 512;
  }
  return size;
}
