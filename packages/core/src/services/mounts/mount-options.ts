import { BadRequest, unrecognizedFields, type EnginePackage } from '@strongroom/engine-sdk';

type MountOptions = Readonly<Record<string, string>>;

/**
 * Has the engine check the options of its mount, and resolves with what it warns of. An engine without `checkOptions` has none. `current`: the options of
 * the mount that is tuned; about those there was a warning before.
 * @throws BadRequest from the engine, and for a version that no other engine than kv has, with Vault's and OpenBao's text
 */
export function checkMountOptions(pkg: EnginePackage | undefined, options: MountOptions, current: MountOptions = {}): readonly string[] {
  if (!pkg) return [];
  if (pkg.checkOptions) return pkg.checkOptions(options, current) ?? [];
  if (pkg.kind === 'secret' && options['version']) {
    throw new BadRequest(`secrets engine ${JSON.stringify(pkg.name)} does not allow setting a version`);
  }
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(current, name));
  return unrecognizedFields(unknown, [], 'options.');
}

/** What the sent options make of those in force: each one replaces the one of its name. An empty one removes it, except a version, which the engine may refuse. */
export function mergedOptions(current: MountOptions | null, sent: MountOptions = {}): Record<string, string> | null {
  const merged = Object.entries({ ...current, ...sent }).filter(([name, value]) => value !== '' || (name === 'version' && current?.[name]));
  return merged.length > 0 ? Object.fromEntries(merged) : null;
}
