/** The titles of the cases, in the order in which a reader would ask. */
export const CONTRACT_CASES = [
  'the package is well formed',
  'every path is described, every operation has a summary, every field says what it is',
  'every capture has a field',
  'secret types, intents and schedules have names of their own',
  'every path answers help',
  'without a token, only open paths answer',
  'an unknown path is a 404, an operation that a path does not have is a 405',
  'garbage on an unconfigured mount is refused with a 4xx',
  'garbage on a mount in use is refused with a 4xx',
  'a field of the wrong type is a 400 that names it',
  'an unknown field is a warning in the answer',
  'no secret field is shown',
  'two mounts know nothing of each other',
  'everything is still there after sealing and unsealing',
  'unmounting leaves nothing of the mount in the store',
  'a forced unmount names what is left outside, and holds no secret',
  'closing an engine twice, or one that never started, is no fault',
] as const;

/** The title of a case of the contract, as `skip` names it. */
export type ContractCase = (typeof CONTRACT_CASES)[number];
