import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from '@strongroom/engine-sdk';
import type { PluginChoice } from '../config/configuration.ts';
import { PluginsRefused } from '../failures.ts';

/** Kinds that something in this server knows how to use. */
const KINDS = ['auth', 'secret', 'database', 'audit', 'sync-destination', 'seal', 'snapshot-storage'];

/**
 * Loads the packages that the configuration names, beside those already `present`. Every exported value that is a plugin counts. One that was
 * built for another API is among them: the core refuses it alone, before anything of it is called. @throws PluginsRefused naming all that is wrong
 */
export async function packagePlugins(choices: readonly PluginChoice[], present: readonly Plugin[]): Promise<Plugin[]> {
  const complaints: string[] = [];
  const loaded: Plugin[] = [];
  for (const choice of choices) {
    const complain = (reason: string): void => {
      complaints.push(`${choice.at}: plugin ${JSON.stringify(choice.name)}: ${reason}`);
    };
    const exported = await load(choice).catch((error: unknown) => {
      complain(error instanceof PluginsRefused ? error.message : reasonOf(error));
      return undefined;
    });
    if (!exported) continue;
    const plugins = pluginsIn(exported.module).map((plugin) => placed(plugin, exported.folder));
    if (plugins.length === 0) complain('it exports no plugin: a value with name, kind and apiVersion');
    for (const plugin of plugins) {
      const fault = faultOf(plugin) ?? duplicateOf(plugin, [...present, ...loaded]);
      if (fault === undefined) loaded.push(plugin);
      else complain(fault);
    }
  }
  if (complaints.length > 0) throw new PluginsRefused(complaints.join('\n'));
  return loaded;
}

async function load({ name, from }: PluginChoice): Promise<{ module: Record<string, unknown>; folder: string }> {
  const url = await locate(name, from);
  return { module: (await import(url)) as Record<string, unknown>, folder: new URL('.', url).href };
}

/** An engine that does not say where its code is: it is at least where it was loaded from. What else it has stays as it is. */
function placed(plugin: Plugin, folder: string): Plugin {
  const isEngine = plugin.kind === 'auth' || plugin.kind === 'secret';
  if (!isEngine || plugin.code !== undefined) return plugin;
  return Object.create(plugin, { code: { value: [folder], enumerable: true } }) as Plugin;
}

/** The module's URL: the path of a file, or a package beside the configuration or, failing that, where the server is installed. */
async function locate(name: string, from: string): Promise<string> {
  if (isAbsolute(name) || /^\.{1,2}\//.test(name)) {
    const file = resolve(from, name);
    const found = await stat(file).catch(() => undefined);
    if (!found) throw new PluginsRefused(`there is no ${file}`);
    return pathToFileURL(found.isDirectory() ? await entryOf(file) : file).href;
  }
  const folders = [join(from, '_'), import.meta.url].flatMap((base) => createRequire(base).resolve.paths(name) ?? []);
  for (const folder of folders) {
    const found = join(folder, name);
    if (await stat(join(found, 'package.json')).catch(() => undefined)) return pathToFileURL(await entryOf(found)).href;
  }
  throw new PluginsRefused(`it is not installed, neither for ${from} nor beside the server: npm install ${name}`);
}

/** The file that `import` of a package means. */
async function entryOf(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { exports, main } = JSON.parse(text) as { exports?: unknown; main?: unknown };
  const entry = exports === undefined ? (main ?? 'index.js') : exportOf(exports);
  const file = typeof entry === 'string' ? resolve(folder, entry) : '';
  if (!file.startsWith(resolve(folder) + sep)) throw new PluginsRefused('its package.json names no module to import');
  return file;
}

const CONDITIONS = ['node', 'import', 'module-sync', 'default'];

function exportOf(exports: unknown): unknown {
  if (Array.isArray(exports)) return exports.map(exportOf).find((entry) => entry !== undefined);
  if (typeof exports !== 'object' || exports === null) return exports;
  if (Object.hasOwn(exports, '.')) return exportOf((exports as Record<string, unknown>)['.']);
  for (const [condition, entry] of Object.entries(exports)) {
    const found = CONDITIONS.includes(condition) ? exportOf(entry) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  const text = (message ?? String(error)).split('\n')[0]!;
  return missing ? `something that it needs is missing: ${text}` : `it cannot be loaded: ${text}`;
}

/** The exported values that mean to be plugins; one exported under two names counts once. */
function pluginsIn(exported: Record<string, unknown>): Plugin[] {
  const values = Object.values(exported).flatMap((value): unknown[] => (Array.isArray(value) ? value : [value]));
  const isPlugin = (value: unknown): value is Plugin =>
    typeof value === 'object' && value !== null && 'apiVersion' in value && 'kind' in value && 'name' in value;
  return [...new Set(values.filter(isPlugin))];
}

function faultOf({ name, kind }: Plugin): string | undefined {
  if (typeof name !== 'string' || !/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/.test(name)) return 'it has a plugin without a usable name';
  if (!KINDS.includes(kind)) return `${name} is of the unknown kind ${JSON.stringify(kind)}; known are ${KINDS.join(', ')}`;
  return undefined;
}

function duplicateOf(plugin: Plugin, others: readonly Plugin[]): string | undefined {
  const same = others.some(({ name, kind, version }) => name === plugin.name && kind === plugin.kind && version === plugin.version);
  return same ? `${plugin.name} is already there as ${plugin.kind} plugin` : undefined;
}
