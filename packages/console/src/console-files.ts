import { existsSync, readFileSync } from 'node:fs';
import type { ConsoleFile } from './console-file.ts';

/** What the build writes of a file: its type, its tag, and whether `.gz` and `.br` lie beside it. */
interface Listed {
  readonly type: string;
  readonly etag: string;
  readonly compressed: boolean;
}

/**
 * The files of the console by their path below `/ui/`, such as `index.html` and `assets/main-x1y2.js`.
 * @throws Error if the console was not built
 */
export function consoleFiles(): ReadonlyMap<string, ConsoleFile> {
  const folder = new URL('../ui/', import.meta.url);
  const list = new URL('files.json', folder);
  if (!existsSync(list)) throw new Error('the console is not built: run npm run console');
  const listed = JSON.parse(readFileSync(list, 'utf8')) as Record<string, Listed>;
  return new Map(
    Object.entries(listed).map(([path, { type, etag, compressed }]) => {
      const identity = readFileSync(new URL(path, folder));
      if (!compressed) return [path, { type, etag, identity }];
      const gzip = readFileSync(new URL(`${path}.gz`, folder));
      const brotli = readFileSync(new URL(`${path}.br`, folder));
      return [path, { type, etag, identity, gzip, brotli }];
    }),
  );
}
