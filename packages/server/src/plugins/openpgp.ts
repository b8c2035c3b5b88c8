import type { OpenPgp } from '@strongroom/core';
import { isMissing } from './plugin-list.ts';

/** Loads the optional package that encrypts to PGP keys; undefined where it is not installed. @throws what a package throws that is there and cannot be loaded */
export async function loadOpenPgp(): Promise<OpenPgp | undefined> {
  try {
    return await import('@strongroom/pgp');
  } catch (error) {
    if (isMissing(error, '@strongroom/pgp')) return undefined;
    throw error;
  }
}
