import { readFileSync } from 'node:fs';
import type { ConfiguredSeal } from '@strongroom/core';
import { API_VERSION, type Clock, type Log, type Plugin } from '@strongroom/engine-sdk';
import { isSealError, readSettings, staticSeal, type SealPlugin, type SealSession } from '@strongroom/seal-sdk';
import { ConfigurationInvalid } from '../config/complaints.ts';
import type { SealChoice } from '../config/configuration.ts';
import { isMissing } from './plugin-list.ts';
import { OFFERED_SEALS } from '../config/offered-seals.ts';

/** What the seals of a server need. */
export interface SealSurroundings {
  /** Of packages that the configuration names. */
  readonly plugins: readonly Plugin[];
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The seals that the configuration names, ready to be opened; their packages are loaded here, and only theirs. Nothing connects.
 * @throws ConfigurationInvalid with every complaint
 */
export async function configuredSeals(choices: readonly SealChoice[], surroundings: SealSurroundings): Promise<ConfiguredSeal[]> {
  const complaints: string[] = [];
  const seals: ConfiguredSeal[] = [];
  for (const choice of choices) {
    const seal = await configured(choice, surroundings);
    if (Array.isArray(seal)) complaints.push(...seal.map((text) => `${choice.at}: seal ${JSON.stringify(choice.type)}: ${text}`));
    else seals.push(seal);
  }
  if (complaints.length > 0) throw new ConfigurationInvalid(complaints);
  return seals;
}

/** The seal, or what is wrong with it. */
async function configured(choice: SealChoice, { plugins, clock, log }: SealSurroundings): Promise<ConfiguredSeal | string[]> {
  const plugin = await pluginOf(choice.type, plugins);
  if (typeof plugin === 'string') return [plugin];
  const { complaints, notices, values } = readSettings(plugin.settings, { ...choice, readFile: readFileSync });
  if (complaints.length > 0) return complaints.map(({ key, text }) => (key === undefined ? text : `${key} ${text}`));
  for (const { key = '', text } of notices)
    if (plugin !== staticSeal) log.warn(`${choice.at}: seal ${JSON.stringify(choice.type)}: ${key} ${text}`);
  const open = async (): Promise<SealSession> => {
    const read = values();
    const [fault] = plugin.check?.(read) ?? [];
    if (fault !== undefined) throw new Error(fault);
    return plugin.open(read, { clock, log });
  };
  let first: Promise<SealSession> | undefined;
  if (notices.length === 0) {
    const faults = plugin.check?.(values()) ?? [];
    if (faults.length > 0) return [...faults];
    try {
      first = Promise.resolve(await open());
    } catch (error) {
      if (isSealError(error, 'seal_settings_invalid')) return [error.message];
      log.warn('a seal cannot be opened yet', { seal: choice.name ?? choice.type, reason: (error as Error).message });
    }
  }
  const { type, name, priority, disabled, health } = choice;
  return {
    ...{ type, disabled },
    ...(name === undefined ? {} : { name }),
    ...(priority === undefined ? {} : { priority }),
    ...(health ? { health } : {}),
    open: async () => {
      const session = first ?? open();
      first = undefined;
      return session;
    },
  };
}

/** The plugin, or why there is none. */
async function pluginOf(type: string, plugins: readonly Plugin[]): Promise<SealPlugin | string> {
  if (type === staticSeal.name) return staticSeal as unknown as SealPlugin;
  const offer = OFFERED_SEALS.find((each) => each.type === type);
  const found = offer ? await loaded(offer.package, type) : plugins.find((plugin) => plugin.kind === 'seal' && plugin.name === type);
  if (found === undefined) return `no package that a plugin block names brings the seal ${JSON.stringify(type)}`;
  if (typeof found === 'string') return found;
  if (found.apiVersion !== API_VERSION)
    return `the package was built for version ${found.apiVersion} of the API, and this server has version ${API_VERSION}`;
  return found as unknown as SealPlugin;
}

async function loaded(from: string, type: string): Promise<Plugin | string> {
  try {
    const exported = Object.values((await import(from)) as Record<string, unknown>);
    const plugin = exported.find((value) => isPlugin(value) && value.kind === 'seal' && value.name === type);
    return (plugin as Plugin | undefined) ?? `the package ${from} does not bring it`;
  } catch (error) {
    if (isMissing(error, from)) return `its package is not installed: npm install ${from}`;
    return `its package ${from} cannot be loaded: ${(error as Error).message.split('\n')[0]!}`;
  }
}

function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && 'kind' in value && 'name' in value && 'apiVersion' in value;
}
