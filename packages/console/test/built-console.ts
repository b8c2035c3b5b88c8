import { gzipSync } from 'node:zlib';
import { existsSync } from 'node:fs';
import { consoleFiles, type ConsoleFile } from '../src/index.ts';

/** Why the built files cannot be looked at; undefined where the console is built. */
export const notBuilt = existsSync(new URL('../ui/files.json', import.meta.url)) ? undefined : 'the console is not built: npm run console';

/** The built files, and how they refer to each other. */
export class BuiltConsole {
  readonly #files = consoleFiles();

  paths(): string[] {
    return [...this.#files.keys()];
  }

  text(path: string): string {
    return Buffer.from(this.#file(path).identity).toString();
  }

  gzip(paths: Iterable<string>): number {
    return sum([...paths].map((path) => (this.#file(path).gzip ?? gzipSync(this.#file(path).identity)).length));
  }

  brotli(paths: Iterable<string>): number {
    return sum([...paths].map((path) => (this.#file(path).brotli ?? this.#file(path).identity).length));
  }

  /** What `index.html` names: loaded before anything is drawn. */
  shell(): Set<string> {
    const html = this.text('index.html');
    return new Set([...html.matchAll(/(?:src|href)="\/ui\/([^"]+)"/g)].map((match) => match[1]!));
  }

  /** A chunk that is loaded when it is needed, with everything that comes along: `login-page`. */
  lazy(name: string): Set<string> {
    const entry = [...this.shell()].find((path) => /^assets\/index-.*\.js$/.test(path))!;
    const script = this.text(entry);
    const all = JSON.parse(/m\.f=(\[[^\]]*\])/.exec(script)![1]!) as string[];
    const found = new RegExp(`import\\(.\\./${name}-[^)]*\\),__vite__mapDeps\\(\\[([\\d,]*)\\]\\)`).exec(script);
    if (!found) throw new Error(`there is no chunk ${name}`);
    return new Set(found[1]!.split(',').map((at) => all[Number(at)]!));
  }

  #file(path: string): ConsoleFile {
    const file = this.#files.get(path);
    if (!file) throw new Error(`there is no file ${path}`);
    return file;
  }
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
