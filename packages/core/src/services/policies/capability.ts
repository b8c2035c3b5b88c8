import type { RequestOperation } from '../../kernel/call/core-request.ts';

/** What a call asks of a policy. */
export type PolicyOperation = RequestOperation;

export type Capability = 'create' | 'read' | 'update' | 'patch' | 'delete' | 'list' | 'scan' | 'sudo' | 'deny';

/** A set of capabilities, one bit each. */
export type CapabilitySet = number;

export const CAPABILITY_BITS: Readonly<Record<Capability, CapabilitySet>> = {
  deny: 1,
  create: 2,
  read: 4,
  update: 8,
  patch: 16,
  delete: 32,
  list: 64,
  scan: 128,
  sudo: 256,
};

export const DENY = CAPABILITY_BITS.deny;
export const SUDO = CAPABILITY_BITS.sudo;
export const LISTING = CAPABILITY_BITS.list | CAPABILITY_BITS.scan;

/** All names in alphabetical order, which is the order of the wire. */
const sorted = (Object.keys(CAPABILITY_BITS) as Capability[]).sort();

/** What the `policy = "…"` of old policies stands for. */
export const OLD_POLICIES: ReadonlyMap<string, readonly Capability[]> = new Map([
  ['deny', ['deny']],
  ['read', ['read', 'list']],
  ['write', ['create', 'read', 'update', 'delete', 'list']],
  ['sudo', ['create', 'read', 'update', 'delete', 'list', 'sudo']],
]);

export function isCapability(name: string): name is Capability {
  return Object.hasOwn(CAPABILITY_BITS, name);
}

/** Deny swallows everything else. */
export function capabilitySet(names: readonly Capability[]): CapabilitySet {
  let set = 0;
  for (const name of names) set |= CAPABILITY_BITS[name];
  return (set & DENY) !== 0 ? DENY : set;
}

/** Sorted names; what grants nothing is `["deny"]`. */
export function capabilityNames(set: CapabilitySet): Capability[] {
  if ((set & DENY) !== 0 || set === 0) return ['deny'];
  return sorted.filter((name) => (set & CAPABILITY_BITS[name]) !== 0);
}

/** The capability that an operation needs; 0 for those that no capability grants (HEAD) and for `help`, which needs none. */
export function neededCapability(operation: PolicyOperation): CapabilitySet {
  switch (operation) {
    case 'help':
    case 'header':
      return 0;
    default:
      return CAPABILITY_BITS[operation];
  }
}
