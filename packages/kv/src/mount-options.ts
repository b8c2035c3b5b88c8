import { BadRequest, unrecognizedFields } from '@strongroom/engine-sdk';

type MountOptions = Readonly<Record<string, string>>;

/** The version that mount options ask for; without one it is 1, as clients of Vault and OpenBao expect. */
export function versionOf(options: MountOptions): '1' | '2' {
  return options['version'] === '2' ? '2' : '1';
}

/**
 * Warns of options that have no effect: with a misspelt `version` the mount has version 1. `current`: the options of the mount that is tuned.
 * @throws BadRequest for a version other than 1 and 2, and for a way back from 2 to 1
 */
export function checkMountOptions(options: MountOptions, current: MountOptions = {}): string[] {
  const { version } = options;
  if (version !== undefined && version !== '' && version !== '1' && version !== '2') {
    throw new BadRequest(`the option "version" of a kv mount must be "1" or "2", not ${JSON.stringify(version)}`);
  }
  if (versionOf(current) === '2' && versionOf(options) === '1') refuseDowngrade();
  const unknown = Object.keys(options).filter((name) => name !== 'version' && !Object.hasOwn(current, name));
  return unrecognizedFields(unknown, ['version'], 'options.');
}

export function refuseDowngrade(): never {
  throw new BadRequest('cannot downgrade mount from version 2');
}
