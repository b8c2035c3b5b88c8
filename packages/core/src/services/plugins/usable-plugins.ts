import { API_VERSION, type EnginePackage, type Plugin, type RefusedPlugin, type SystemMount } from '@strongroom/engine-sdk';
import { refusedAsAbsent, type AbsentPlugin } from './absent-plugin.ts';
import { PluginRefused } from './plugin-refused.ts';

export type SystemEngine = EnginePackage & { readonly system: SystemMount };

/**
 * The plugins that a server was given, distinguished by whether it can use them. One that was built for another API is refused alone: none of its
 * code runs, the catalogue shows it, and what needs it says why it does not work.
 */
export class UsablePlugins {
  readonly usable: readonly Plugin[];
  readonly refused: readonly RefusedPlugin[];
  readonly absent: readonly AbsentPlugin[];
  readonly #external: ReadonlySet<Plugin>;

  /** @throws PluginRefused for a list that contradicts itself: which of two was meant cannot be known. */
  constructor(
    builtIn: readonly Plugin[],
    { external = [], absent = [] }: { external?: readonly Plugin[] | undefined; absent?: readonly AbsentPlugin[] | undefined } = {},
  ) {
    const plugins = [...builtIn, ...external];
    this.#external = new Set(external);
    // Somebody else's plugin of the same name takes the place of one that is not installed.
    this.absent = absent.filter(({ kind, name }) => !plugins.some((plugin) => plugin.kind === kind && plugin.name === name));
    const seen = new Set<string>();
    for (const plugin of plugins) {
      const key = `${plugin.kind}/${plugin.name}/${plugin.version ?? ''}`;
      if (seen.has(key)) throw new PluginRefused(plugin.name, `listed twice as ${plugin.kind} plugin`);
      seen.add(key);
    }
    const refused = plugins.flatMap((plugin) => {
      const reason = reasonAgainst(plugin);
      return reason === undefined ? [] : [{ plugin, reason }];
    });
    this.refused = refused;
    this.usable = plugins.filter((plugin) => !refused.some((entry) => entry.plugin === plugin));
    for (const { name, system } of this.usable as readonly Partial<EnginePackage>[]) {
      if (system && !/^sys\/[a-z][a-z-]*\/$/.test(system.path)) {
        throw new PluginRefused(name ?? '', `its place ${JSON.stringify(system.path)} is not one segment below sys/`);
      }
    }
  }

  engines(): EnginePackage[] {
    return this.usable.filter((plugin): plugin is EnginePackage => plugin.kind === 'auth' || plugin.kind === 'secret');
  }

  /** The engines that the server mounts itself, once, below `sys/`. */
  systemEngines(): SystemEngine[] {
    return this.engines().filter((engine): engine is SystemEngine => engine.system !== undefined);
  }

  /** Whether the plugin came with the server, and not from a package that an operator added. */
  isBuiltIn(plugin: Plugin): boolean {
    return !this.#external.has(plugin);
  }

  /** The plugins of a kind that cannot be used: refused, or not installed. */
  unusable(kind: string): RefusedPlugin[] {
    return [...this.refused, ...this.absent.map(refusedAsAbsent)].filter(({ plugin }) => plugin.kind === kind);
  }

  /** Why a plugin of that name cannot be used, where one is known that cannot. */
  reasonFor(kind: string, name: string): string | undefined {
    return this.unusable(kind).find(({ plugin }) => plugin.name === name)?.reason;
  }
}

function reasonAgainst({ name, apiVersion }: Plugin): string | undefined {
  if (apiVersion === API_VERSION) return undefined;
  return `plugin ${name} was built for plugin API ${String(apiVersion)}; this server offers ${API_VERSION}`;
}
