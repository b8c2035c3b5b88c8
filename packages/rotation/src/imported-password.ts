import { BadRequest } from '@strongroom/engine-sdk';
import type { Proof } from './outcome.ts';

/** The password that a user or account has when its role is created without a rotation. */
export interface ImportedPassword {
  /** Absent if it is unknown. */
  readonly password: string | undefined;
  /** Whether a login proves it before it is stored. */
  readonly verify: boolean;
}

/** What a write sends of it. */
export interface SentImport {
  readonly skip_import_rotation: boolean | undefined;
  readonly password: string | undefined;
  readonly verify: boolean;
}

/** Who an imported password belongs to, in messages. */
export interface ImportedFor {
  /** `the database`. */
  readonly system: string;
  /** `user` or `account`. */
  readonly noun: string;
  readonly name: string;
}

/**
 * What is known of the password of a role that is created without a rotation; undefined where the creation rotates it. `noun`: `user` or `account`.
 * @throws BadRequest for a password that would not be stored
 */
export function importedPassword({ skip_import_rotation: skip, password, verify }: SentImport, noun: string): ImportedPassword | undefined {
  if (!skip) {
    if (password === undefined) return undefined;
    throw new BadRequest(`password: it is stored only with skip_import_rotation=true; without that, the ${noun} gets a new one at once`);
  }
  if (password === '') throw new BadRequest(`password: it is empty; send the password that the ${noun} has now, or leave the field out`);
  return { password, verify };
}

/** @throws BadRequest for fields of a creation in a write of a role that is there. */
export function refuseImport(sent: Omit<SentImport, 'verify'>): void {
  for (const field of ['skip_import_rotation', 'password'] as const) {
    if (sent[field] !== undefined) throw new BadRequest(`${field} has no effect on updates`);
  }
}

/** @throws BadRequest for a password that a login has not proven. `field`: where it was sent; only `password` can be stored unproven. */
export function requireProven(proof: Proof, { system, noun, name }: ImportedFor, field = 'password'): void {
  if (proof === 'candidate') return;
  const whose = JSON.stringify(name);
  throw new BadRequest(
    proof === 'unprovable'
      ? `${field}: no login can prove that it is the one of ${whose}${field === 'password' ? '; send verify=false to store it as it is' : ''}`
      : `${field}: ${system} does not take it for the ${noun} ${whose}; send the password that the ${noun} has now`,
  );
}
