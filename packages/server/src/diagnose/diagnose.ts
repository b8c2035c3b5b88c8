import type { Plugin } from '@strongroom/engine-sdk';
import { readConfiguration } from '../config/read-configuration.ts';
import { ConfigurationInvalid } from '../config/complaints.ts';
import { defaultConfiguration } from '../config/default-configuration.ts';
import type { Configuration } from '../config/configuration.ts';
import { offeredPlugins } from '../plugins/plugin-list.ts';
import { packagePlugins } from '../plugins/package-plugins.ts';
import { checkClock } from './clock-check.ts';
import { Findings, type Finding } from './finding.ts';
import { checkListeners } from './listener-checks.ts';
import { checkMachine, thisMachine, type Machine } from './machine-checks.ts';
import { checkSeals } from './seal-check.ts';
import { checkStorage } from './storage-check.ts';
import { checkWorkers } from './workers-check.ts';

/** What `diagnose` looks at; what is left out is this machine, now. */
export interface DiagnoseOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly machine?: Machine;
  readonly now?: Date;
}

/**
 * Looks for what would keep a server with this configuration from starting, or from being safe: configuration, storage, seal, listeners and their
 * certificates, plugins, clock, and the machine. Starts nothing, and changes nothing in a store.
 */
export async function diagnose(paths: readonly string[], options: DiagnoseOptions = {}): Promise<Finding[]> {
  const { env = process.env, machine = thisMachine(), now = new Date() } = options;
  const { configuration, findings } = configured(paths, env);
  const ofMachine = await checkMachine(machine);
  if (!configuration) return [...findings, ...ofMachine];
  return [
    ...findings,
    ...(await checkStorage(configuration)),
    ...(await checkListeners(configuration, now)),
    ...(await checkPlugins(configuration)),
    ...checkWorkers(configuration),
    ...(await checkClock(configuration, machine, now)),
    ...ofMachine,
  ];
}

function configured(
  paths: readonly string[],
  env: NonNullable<DiagnoseOptions['env']>,
): { configuration?: Configuration; findings: Finding[] } {
  const found = new Findings('configuration');
  try {
    const configuration = paths.length > 0 ? readConfiguration(paths, { env }) : defaultConfiguration(env);
    found.ok(paths.length > 0 ? `${paths.join(', ')} can be used` : 'there is none: the defaults are used');
    for (const notice of configuration.notices) found.ok(notice);
    return { configuration, findings: found.all };
  } catch (error) {
    const complaints = error instanceof ConfigurationInvalid ? error.complaints : [(error as Error).message];
    for (const complaint of complaints) found.failure(complaint, 'Correct it: the server does not start');
    return { findings: found.all };
  }
}

/** Plugins, and the seals that some of them bring. */
async function checkPlugins(configuration: Configuration): Promise<Finding[]> {
  const found = new Findings('plugins');
  let external: readonly Plugin[] = [];
  try {
    const { installed } = await offeredPlugins();
    external = await packagePlugins(configuration.plugins, installed);
    found.ok(`${installed.length} come with the server, ${external.length} from other packages`);
  } catch (error) {
    found.failure((error as Error).message, 'Install the package, or correct its name');
  }
  return [...found.all, ...(await checkSeals(configuration, external))];
}
