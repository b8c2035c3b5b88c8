import { API_VERSION, type EnginePackage, type Plugin, type RefusedPlugin, type SystemMount } from '@strongroom/engine-sdk';
import { PluginRefused } from './plugin-refused.ts';

export type SystemEngine = EnginePackage & { readonly system: SystemMount };

/**
 * The plugins that a server was given, told apart by whether it can use them. One that was built for another API is refused alone: none of its
 * code runs, the catalogue shows it, and what needs it says why it does not work.
 */
export class UsablePlugins {
  readonly usable: readonly Plugin[];
  readonly refused: readonly RefusedPlugin[];

  /** @throws PluginRefused for a list that contradicts itself: which of two was meant cannot be known. */
  constructor(plugins: readonly Plugin[]) {
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

  /** Why a plugin of that name cannot be used, where one is there that cannot. */
  reasonFor(kind: string, name: string): string | undefined {
    return this.refused.find(({ plugin }) => plugin.kind === kind && plugin.name === name)?.reason;
  }
}

function reasonAgainst({ name, apiVersion }: Plugin): string | undefined {
  if (apiVersion === API_VERSION) return undefined;
  return `plugin ${name} was built for plugin API ${String(apiVersion)}; this server offers ${API_VERSION}`;
}
